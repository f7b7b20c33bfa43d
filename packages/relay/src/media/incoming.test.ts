// A body whose write is aborted: reading it ends at once, no matter when the abort comes. And one whose bytes
// have to wait.
import { expect, test } from 'bun:test'
import { failureOf } from '../../../protocol/test/failure-of.ts'
import { incoming } from './incoming.ts'

const SILENT = { length: 100, mostBytes: 100 }

/** A client that sends some bytes and then nothing. */
const silentClient = () =>
  new ReadableStream<Uint8Array<ArrayBuffer>>({
    start: (controller) => controller.enqueue(new Uint8Array(10)),
  })

async function readAll(pieces: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of pieces);
}

test('a write that was aborted before its body is read ends without waiting for the client', async () => {
  const { pieces } = incoming({ ...SILENT, pieces: silentClient() }, AbortSignal.abort())
  expect(await failureOf(readAll(pieces))).toMatchObject({ code: 'BODY_INCOMPLETE' })
})

test('a write that is aborted while it waits for its client ends', async () => {
  const ending = new AbortController()
  const { pieces } = incoming({ ...SILENT, pieces: silentClient() }, ending.signal)
  const reading = failureOf(readAll(pieces))
  await Promise.resolve()
  ending.abort()
  expect(await reading).toMatchObject({ code: 'BODY_INCOMPLETE' })
})

test('bytes that exceed the rate of their account are read later, and an abort ends the wait', async () => {
  const waits = [1, 0, 3_600_000]
  const counted: number[] = []
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull: (controller) => controller.enqueue(new Uint8Array(10)),
  })
  const arrived = (bytes: number): number => {
    counted.push(bytes)
    return waits.shift() ?? 0
  }
  const ending = new AbortController()
  const { pieces } = incoming({ ...SILENT, pieces: body, arrived }, ending.signal)
  const read: number[] = []
  const reading = (async () => {
    for await (const piece of pieces) {
      read.push(piece.byteLength)
      // The reader waits for an hour once it has asked for the next piece.
      if (read.length === 3) setImmediate(() => ending.abort())
    }
  })()
  expect(await failureOf(reading)).toMatchObject({ code: 'BODY_INCOMPLETE' })
  expect([read, counted]).toEqual([
    [10, 10, 10],
    [10, 10, 10],
  ])
})
