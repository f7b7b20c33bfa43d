// Frames count as arrived only if they were sent before a ping, and after its pong and two more frames from
// the client.
import { expect, test } from 'bun:test'
import * as fc from 'fast-check'
import type { Arrived } from './mailbox-reader.ts'
import { Unconfirmed } from './unconfirmed.ts'

/** Completes a ping, so that everything sent before counts as arrived. @returns what arrived */
function confirm(unconfirmed: Unconfirmed) {
  unconfirmed.pingSent()
  unconfirmed.pongReceived()
  expect(unconfirmed.frameReceived()).toBeUndefined()
  return unconfirmed.frameReceived()
}

test('the result has the last retraction, the notices and the furthest marks that arrived', () => {
  const unconfirmed = new Unconfirmed()
  unconfirmed.retractionSent(3)
  unconfirmed.retractionSent(7)
  unconfirmed.noticeSent(5)
  unconfirmed.noticeSent(4)
  unconfirmed.receiptSent({ conversation: 1, toldRound: 5, deliveredSeq: 4, readSeq: 0 })
  unconfirmed.receiptSent({ conversation: 1, toldRound: 5, deliveredSeq: 3, readSeq: 2 })
  unconfirmed.receiptSent({ conversation: 2, toldRound: 0, deliveredSeq: 9, readSeq: 9 })
  expect(confirm(unconfirmed)).toEqual({
    retractionPosition: 7,
    noticeIds: new Set([5, 4]),
    receipts: new Map([
      [1, { toldRound: 5, deliveredSeq: 4, readSeq: 2 }],
      [2, { toldRound: 0, deliveredSeq: 9, readSeq: 9 }],
    ]),
  })
  expect(unconfirmed.needsPing).toBe(false)
})

test('marks of a conversation that are forgotten count neither as sent nor as arrived', () => {
  const unconfirmed = new Unconfirmed()
  const mark = (conversation: number) => ({ conversation, toldRound: 1, deliveredSeq: 3, readSeq: 3 })
  for (const conversation of [1, 2]) unconfirmed.receiptSent(mark(conversation))
  unconfirmed.pingSent()
  unconfirmed.receiptSent(mark(1))
  unconfirmed.forgetReceipts(1)
  expect([1, 2].map((conversation) => unconfirmed.hasSent(mark(conversation)))).toEqual([false, true])
  unconfirmed.pongReceived()
  unconfirmed.frameReceived()
  expect([...(unconfirmed.frameReceived()?.receipts.keys() ?? [])]).toEqual([2])
  expect([...(confirm(unconfirmed)?.receipts.keys() ?? [])]).toEqual([])
})

test('marks that were sent before a reset do not count with those sent after it', () => {
  const unconfirmed = new Unconfirmed()
  const mark = (toldRound: number, deliveredSeq: number) => ({
    ...{ conversation: 1, toldRound, deliveredSeq, readSeq: 0 },
  })
  unconfirmed.receiptSent(mark(1, 9))
  unconfirmed.receiptSent(mark(2, 4))
  unconfirmed.receiptSent(mark(1, 7))
  expect(unconfirmed.hasSent(mark(2, 4))).toBe(true)
  expect([unconfirmed.hasSent(mark(2, 5)), unconfirmed.hasSent(mark(1, 4))]).toEqual([false, false])
  unconfirmed.pingSent()
  expect([unconfirmed.hasSent(mark(2, 4)), unconfirmed.hasSent(mark(3, 4))]).toEqual([true, false])
  unconfirmed.pongReceived()
  unconfirmed.frameReceived()
  expect(unconfirmed.frameReceived()?.receipts).toEqual(
    new Map([[1, { toldRound: 2, deliveredSeq: 4, readSeq: 0 }]]),
  )
  expect(unconfirmed.hasSent(mark(2, 4))).toBe(false)
})

test('after a restart the position of the retraction sent last counts, not the highest one', () => {
  const unconfirmed = new Unconfirmed()
  unconfirmed.retractionSent(7)
  unconfirmed.retractionSent(2)
  expect(confirm(unconfirmed)?.retractionPosition).toBe(2)
})

test('a frame sent after the ping needs the next ping', () => {
  const unconfirmed = new Unconfirmed()
  unconfirmed.noticeSent(1)
  unconfirmed.pingSent()
  unconfirmed.noticeSent(2)
  expect(unconfirmed.needsPing).toBe(false) // One ping at a time.
  unconfirmed.pongReceived()
  unconfirmed.frameReceived()
  expect(unconfirmed.frameReceived()?.noticeIds).toEqual(new Set([1]))
  expect(unconfirmed.needsPing).toBe(true)
  expect(confirm(unconfirmed)?.noticeIds).toEqual(new Set([2]))
})

test('frames that arrive before the pong confirm nothing, and neither do pongs without a ping', () => {
  const unconfirmed = new Unconfirmed()
  unconfirmed.noticeSent(1)
  unconfirmed.pongReceived()
  for (let i = 0; i < 3; i++) expect(unconfirmed.frameReceived()).toBeUndefined()
  unconfirmed.pingSent()
  for (let i = 0; i < 3; i++) expect(unconfirmed.frameReceived()).toBeUndefined()
  unconfirmed.pongReceived()
  expect(unconfirmed.frameReceived()).toBeUndefined()
  expect(unconfirmed.frameReceived()?.noticeIds).toEqual(new Set([1]))
})

test('only frames sent before an answered ping are confirmed, and in the end all frames are', async () => {
  const step = fc.constantFrom('notice', 'ping', 'pong', 'frame')
  await fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const unconfirmed = new Unconfirmed()
      let sent = 0
      let pinged = 0
      let ponged = 0
      for (const each of steps) {
        if (each === 'notice') unconfirmed.noticeSent(++sent)
        else if (each === 'ping' && unconfirmed.needsPing) {
          unconfirmed.pingSent()
          pinged = sent
        } else if (each === 'pong') {
          unconfirmed.pongReceived()
          ponged = pinged
        } else if (each === 'frame') expect(lastOf(unconfirmed.frameReceived())).toBeLessThanOrEqual(ponged)
      }
      unconfirmed.noticeSent(++sent)
      let arrived = 0
      for (let round = 0; round < 2; round++) {
        if (unconfirmed.needsPing) unconfirmed.pingSent()
        unconfirmed.pongReceived()
        for (let i = 0; i < 2; i++) arrived = Math.max(arrived, lastOf(unconfirmed.frameReceived()))
      }
      expect(arrived).toBe(sent)
    }),
  )
})

function lastOf(arrived: Arrived | undefined): number {
  return Math.max(0, ...(arrived?.noticeIds ?? []))
}
