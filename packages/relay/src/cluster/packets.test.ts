// Packets between nodes: what arrives, and what is known of that which did not.
import { expect, test } from 'bun:test'
import * as fc from 'fast-check'
import { PacketReader, PacketWriter } from './packets.ts'

const MOST_BYTES = 200

/** Lines of any text that JSON has: no line breaks, and no half characters. */
const lines = fc.array(
  fc
    .string({ unit: 'binary', maxLength: 300 })
    .map((text) => text.toWellFormed().replaceAll('\n', ' '))
    .filter((line) => line !== ''),
  { maxLength: 20 },
)

test('every line arrives once and in order, in packets that are small enough', () => {
  void fc.assert(
    fc.property(lines, (sent) => {
      const writer = new PacketWriter('node', { mostBytes: MOST_BYTES })
      const reader = new PacketReader()
      const packets = [writer.heartbeat(), ...writer.pack(sent)]
      for (const packet of packets) expect(Buffer.byteLength(packet)).toBeLessThanOrEqual(MOST_BYTES)
      const received = packets.flatMap((packet) => [reader.read(packet, 0), reader.read(packet, 0)])
      expect(received.flatMap((packet) => packet?.lines ?? [])).toEqual(sent)
      expect(received.some((packet) => packet?.isAfterLoss)).toBe(false)
    }),
  )
})

test('of packets with gaps only whole lines arrive, and each gap is known', () => {
  void fc.assert(
    fc.property(lines, fc.infiniteStream(fc.boolean()), (sent, isLost) => {
      const writer = new PacketWriter('node', { mostBytes: MOST_BYTES })
      const reader = new PacketReader()
      let isAfterLoss = false
      const arrived: string[] = []
      for (const packet of [...writer.pack(sent), writer.heartbeat()]) {
        if (isLost.next().value) {
          isAfterLoss = true
          continue
        }
        const received = reader.read(packet, 0)
        expect(received?.isAfterLoss).toBe(isAfterLoss)
        isAfterLoss = false
        arrived.push(...(received?.lines ?? []))
      }
      let from = 0
      for (const line of arrived) {
        from = sent.indexOf(line, from) + 1
        expect(from).toBeGreaterThan(0)
      }
    }),
  )
})

test('a packet that was counted and never sent is known to be lost', () => {
  const writer = new PacketWriter('node', { mostBytes: MOST_BYTES })
  const reader = new PacketReader()
  expect(reader.read(writer.heartbeat(), 0)?.isAfterLoss).toBe(false)
  writer.skip()
  expect(reader.read(writer.heartbeat(), 0)?.isAfterLoss).toBe(true)
  expect(reader.read(writer.heartbeat(), 0)?.isAfterLoss).toBe(false)
})

test('a node that was heard first in the middle, or that was forgotten, may have said something before', () => {
  const writer = new PacketWriter('node', { mostBytes: MOST_BYTES })
  writer.heartbeat()
  const reader = new PacketReader()
  expect(reader.read(writer.heartbeat(), 10)?.isAfterLoss).toBe(true)
  expect(reader.forgetSilentSince(10)).toBe(false)
  expect(reader.nodes).toEqual(['node'])
  expect(reader.forgetSilentSince(11)).toBe(true)
  expect(reader.nodes).toEqual([])
  expect(reader.read(writer.heartbeat(), 20)?.isAfterLoss).toBe(true)
})

test('what is no packet is ignored', () => {
  const reader = new PacketReader()
  for (const text of ['', 'node', 'node 1', 'node x events\n', 'node 1 other\n{}', '{"kind":"keys"}'])
    expect(reader.read(text, 0)).toBeUndefined()
})
