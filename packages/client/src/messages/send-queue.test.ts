// The order in which the messages of a conversation are sent.
import { expect, test } from 'bun:test'
import { intentOf as storedIntent } from '../../test/stores/store-contract.ts'
import type { OutboxIntent } from '../stores/stores.ts'
import { type Entry, inOrderOfSending, type Sending, SendQueue } from './send-queue.ts'

/** A message of version 3, encrypted or not. */
function intentOf(name: string, sealed?: { readonly epoch: number; readonly place: number }): OutboxIntent {
  const { payload, ...intent } = storedIntent(name)
  return { ...intent, version: 3, ...(sealed && { payload, ...sealed }) }
}

/** What a queue sends now, each with the message that it names. */
function sentBy(queue: SendQueue, skips: (intent: OutboxIntent) => boolean = () => false): string[] {
  const sent: string[] = []
  const send = ({ intent, after }: Entry): Sending => {
    if (intent.payload === undefined) return 'waits'
    sent.push(`${intent.internalId} after ${after}`)
    return 'sent'
  }
  queue.pump(true, send, skips)
  return sent
}

test('messages that are skipped hold up none, and leave later', () => {
  const queue = new SendQueue(64, () => 0)
  queue.add(intentOf('not encrypted'), true)
  queue.add(intentOf('encrypted', { epoch: 2, place: 7 }), true)
  queue.add(storedIntent('older'), true)
  queue.add(storedIntent('oldest'), true)
  const isNew = ({ version }: OutboxIntent): boolean => version === 3
  expect(sentBy(queue, isNew)).toEqual(['older after undefined', 'oldest after older'])
  expect(sentBy(queue)).toEqual(['encrypted after undefined'])
})

test('what is encrypted first is sent first, although it was added later', () => {
  const queue = new SendQueue(64, () => 0)
  queue.add(intentOf('waiting'), true)
  expect(sentBy(queue)).toEqual([])
  queue.add(intentOf('acknowledgement', { epoch: 2, place: 7 }), true)
  queue.replace(intentOf('waiting', { epoch: 2, place: 8 }))
  expect(sentBy(queue)).toEqual(['acknowledgement after undefined', 'waiting after acknowledgement'])
})

test('messages that must be encrypted again are so in the order of their posting, once all were refused', () => {
  const queue = new SendQueue(64, () => 0)
  for (const name of ['one', 'two', 'three']) queue.add(intentOf(name), true)
  queue.replace(intentOf('one', { epoch: 2, place: 1 }))
  queue.replace(intentOf('two', { epoch: 2, place: 2 }))
  expect(sentBy(queue)).toEqual(['one after undefined', 'two after one'])
  queue.replace(intentOf('one'))
  // The connection ends before the refusal of the second one: it is sent again, so that it can be refused.
  queue.markAllUnsent()
  expect(sentBy(queue)).toEqual(['two after undefined'])
  queue.replace(intentOf('two'))
  const order: (string | undefined)[] = []
  for (const place of [3, 4, 5]) {
    const next = queue.firstUnsealed(storedIntent('').conversationId)?.internalId
    order.push(next)
    queue.replace(intentOf(next ?? '', { epoch: 3, place }))
  }
  expect(order).toEqual(['one', 'two', 'three'])
})

test('stored messages are sent in the order of their encryption, and the others follow as they were stored', () => {
  const stored = [
    intentOf('waiting', { epoch: 2, place: 8 }),
    intentOf('unsealed one'),
    { ...intentOf('unsealed two'), place: 3 },
    intentOf('acknowledgement', { epoch: 2, place: 7 }),
    intentOf('of the epoch before', { epoch: 1, place: 5 }),
    storedIntent('of version 1'),
  ]
  expect(stored.sort(inOrderOfSending).map(({ internalId }) => internalId)).toEqual([
    'of version 1',
    'of the epoch before',
    'acknowledgement',
    'waiting',
    'unsealed one',
    'unsealed two',
  ])
})
