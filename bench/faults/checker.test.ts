// Handmade histories, one for each way to break a promise. The checker must report every one, and nothing
// else.
import { describe, expect, test } from 'bun:test'
import { check, isComplete } from './checker.ts'
import { digestOf, type Frame, type HistoryEvent } from './history.ts'

const CONV = 'conv'
const names = ['alice', 'bob', 'carol']

const start: readonly HistoryEvent[] = [
  {
    type: 'friends',
    conv: CONV,
    members: [
      { client: 0, alias: 'alice' },
      { client: 1, alias: 'bob' },
    ],
  },
  opening(0, 10),
  opening(1, 20),
  opening(2, 30),
]

function opening(client: number, connection: number): HistoryEvent {
  return { type: 'opening', client, connection }
}

// The number of a client's first connection is ten times the client's number, plus ten.
function sent(client: number, frame: Frame, connection = client * 10 + 10): HistoryEvent {
  return { type: 'sent', client, connection, frame: { conv_id: CONV, ...frame } }
}

function received(client: number, frame: Frame, connection = client * 10 + 10): HistoryEvent {
  const named = ['ack', 'retract_ack', 'error'].includes(frame.type) ? {} : { to: names[client] ?? '' }
  const from = client === 0 ? 'bob' : 'alice'
  return { type: 'received', client, connection, frame: { conv_id: CONV, from, ...named, ...frame } }
}

const payload = digestOf('hello')
const write = (id: string): HistoryEvent => sent(0, { type: 'msg', id, payload })
const ack = (id: string, seq: number, at = seq): HistoryEvent => received(0, { type: 'ack', id, seq, at })
const arrive = (id: string, seq: number, connection = 20, at = seq): HistoryEvent =>
  received(1, { type: 'msg', id, seq, at, payload }, connection)
const confirm = (seq: number): HistoryEvent => sent(1, { type: 'delivered', seq })
const told = (seq: number): HistoryEvent => received(0, { type: 'delivered', seq })

function kinds(...events: readonly HistoryEvent[]): string[] {
  return check([...start, ...events]).map(({ kind }) => kind)
}

describe('a history that keeps every promise has no violation:', () => {
  test('sent, acknowledged, delivered, confirmed, told', () => {
    expect(kinds(write('a'), ack('a', 1), arrive('a', 1), confirm(1), told(1))).toEqual([])
  })

  test('stored in another order than it was sent in, because the refusal by a full relay was lost', () => {
    const full = (detail: string): HistoryEvent => ({ type: 'nemesis', what: 'full', detail })
    const crossed = [write('b'), ack('a', 2), ack('b', 1), arrive('b', 1), arrive('a', 2)]
    expect(kinds(full(''), write('a'), full('over'), ...crossed)).toEqual([])
    expect(kinds(full(''), full('over'), write('a'), ...crossed)).toEqual([])
  })

  test('delivered again on a new connection while the confirmation may not have arrived', () => {
    const again = [opening(1, 21), arrive('a', 1, 21), confirm(1), told(1)]
    expect(kinds(write('a'), ack('a', 1), arrive('a', 1), confirm(1), ...again)).toEqual([])
  })

  test('delivered again on the same connection after a later sync, and not after the first', () => {
    const syncs = [sent(1, { type: 'sync' }), sent(1, { type: 'sync' })]
    const before = [write('a'), ack('a', 1), arrive('a', 1)]
    expect(kinds(...before, ...syncs, arrive('a', 1))).toEqual([])
    expect(kinds(...before, ...syncs.slice(1), arrive('a', 1))).toEqual(['twice'])
  })

  test('a repeated message that is answered with the same number', () => {
    expect(kinds(write('a'), write('a'), ack('a', 1), ack('a', 1), arrive('a', 1))).toEqual([])
  })

  test('a mark that covers the last message of an older client, or is for one that reads its seq', () => {
    const both = [write('a'), ack('a', 1), write('b'), ack('b', 2), arrive('a', 1), arrive('b', 2)]
    expect(kinds(...both, confirm(2), told(2))).toEqual([])
    const bySeq = sent(0, { type: 'sync', receipts: 'by_seq' })
    expect(kinds(bySeq, ...both, confirm(1), told(1), confirm(2), told(2))).toEqual([])
    const crossed = [write('a'), ack('a', 1), arrive('a', 1), confirm(1), write('b'), told(1)]
    expect(kinds(...crossed, ack('b', 2), arrive('b', 2), confirm(2), told(2))).toEqual([])
  })

  test('retracted before it was delivered', () => {
    const retract = [sent(0, { type: 'retract', id: 'a' }), received(0, { type: 'retract_ack', id: 'a' })]
    const arrived = received(1, { type: 'retract', id: 'a', seq: 2, at: 2 })
    expect(kinds(write('a'), ack('a', 1), ...retract, arrived)).toEqual([])
  })
})

describe('each broken promise is reported:', () => {
  test('lost: acknowledged and never delivered', () => {
    expect(kinds(write('a'), ack('a', 1))).toEqual(['lost'])
  })

  test('untrue: a mark for an older client that does not cover its last message', () => {
    const both = [write('a'), ack('a', 1), write('b'), ack('b', 2), arrive('a', 1), arrive('b', 2)]
    expect(kinds(...both, confirm(1), told(1), confirm(2), told(2))).toEqual(['untrue'])
    const again = [opening(0, 11), received(0, { type: 'delivered', seq: 1 }, 11)]
    expect(kinds(...both, confirm(1), ...again, confirm(2), told(2))).toEqual(['untrue'])
    const retracted = [
      sent(0, { type: 'retract', id: 'b' }),
      received(0, { type: 'retract_ack', id: 'b' }),
      received(1, { type: 'retract', id: 'b', seq: 3, at: 3 }),
    ]
    expect(kinds(...both, confirm(1), ...retracted, told(1))).toEqual([])
  })

  test('unanswered: never acknowledged', () => {
    expect(kinds(write('a'))).toEqual(['unanswered'])
    expect(kinds(write('a'), ack('a', 1), arrive('a', 1), sent(0, { type: 'retract', id: 'a' }))).toEqual([
      'unanswered',
    ])
  })

  test('twice: under two numbers', () => {
    expect(kinds(write('a'), ack('a', 1), arrive('a', 1), arrive('a', 2))).toEqual(['twice'])
    expect(kinds(write('a'), ack('a', 1), ack('a', 2), arrive('a', 1))).toEqual(['twice'])
  })

  test('twice: after its sender was told that it had been confirmed', () => {
    const history = [write('a'), ack('a', 1), arrive('a', 1), confirm(1), told(1)]
    expect(kinds(...history, opening(1, 21), arrive('a', 1, 21))).toEqual(['twice'])
  })

  test('twice: after a message that was sent after the confirmation was stored', () => {
    const reply = [
      sent(1, { type: 'msg', id: 'b', payload }),
      received(1, { type: 'ack', id: 'b', seq: 2, at: 2 }),
      received(0, { type: 'msg', id: 'b', seq: 2, at: 2, payload }),
    ]
    const history = [write('a'), ack('a', 1), arrive('a', 1), confirm(1), ...reply, told(1)]
    expect(kinds(...history)).toEqual([])
    const early = [
      write('a'),
      ack('a', 1),
      arrive('a', 1),
      confirm(1),
      ...reply,
      opening(1, 21),
      arrive('a', 1, 21),
    ]
    expect(kinds(...early, told(1))).toEqual(['twice'])
  })

  test('twice: shown after it was retracted', () => {
    const retract = [sent(0, { type: 'retract', id: 'a' }), received(0, { type: 'retract_ack', id: 'a' })]
    const arrived = received(1, { type: 'retract', id: 'a', seq: 2, at: 2 })
    const history = [write('a'), ack('a', 1), ...retract, arrived]
    expect(kinds(...history, opening(1, 21), arrive('a', 1, 21))).toEqual(['twice'])
  })

  test('order: a lower number after a higher one, or skipped and delivered later', () => {
    const two = [write('a'), write('b'), ack('a', 1), ack('b', 2)]
    expect(kinds(...two, arrive('b', 2), arrive('a', 1))).toEqual(['order', 'order'])
    expect(kinds(...two, arrive('b', 2), opening(1, 21), arrive('a', 1, 21), arrive('b', 2, 21))).toEqual([
      'order',
    ])
  })

  test('order: stored in another order than it was sent in', () => {
    const crossed = [write('a'), write('b'), ack('a', 2), ack('b', 1), arrive('b', 1), arrive('a', 2)]
    expect(kinds(...crossed)).toEqual(['order'])
  })

  test('order: stored in another order than it was sent in, after a full disk', () => {
    const full = (detail: string): HistoryEvent => ({ type: 'nemesis', what: 'full', detail })
    const crossed = [write('a'), write('b'), ack('a', 3), ack('b', 2), arrive('b', 2), arrive('a', 3)]
    const served = [write('c'), ack('c', 1), arrive('c', 1)]
    expect(kinds(full(''), full('over'), ...served, ...crossed)).toEqual(['order'])
  })

  test('gap: a number without a message, and a number with two messages', () => {
    expect(kinds(write('a'), ack('a', 2), arrive('a', 2))).toEqual(['gap'])
    const both = [write('a'), write('b'), ack('a', 1), arrive('a', 1), ack('b', 1)]
    expect(kinds(...both, opening(1, 21), arrive('b', 1, 21))).toContain('gap')
  })

  test('changed: another payload, or another time', () => {
    const other = received(1, { type: 'msg', id: 'a', seq: 1, at: 1, payload: digestOf('hallo') })
    expect(kinds(write('a'), ack('a', 1), other)).toEqual(['changed'])
    expect(kinds(write('a'), ack('a', 1, 5), arrive('a', 1, 20, 6))).toEqual(['changed'])
  })

  test('time: `at` decreases', () => {
    const two = [write('a'), write('b'), ack('a', 1, 9), ack('b', 2, 8)]
    expect(kinds(...two, arrive('a', 1, 20, 9), arrive('b', 2, 20, 8))).toEqual(['time'])
  })

  test('receipt: a mark that never arrived', () => {
    expect(kinds(write('a'), ack('a', 1), arrive('a', 1), confirm(1))).toEqual(['receipt'])
    const read = [write('a'), ack('a', 1), arrive('a', 1), sent(1, { type: 'read', seq: 1 }), told(1)]
    expect(kinds(...read)).toEqual(['receipt'])
  })

  test('retraction: a retraction that never arrived', () => {
    const retract = [sent(0, { type: 'retract', id: 'a' }), received(0, { type: 'retract_ack', id: 'a' })]
    expect(kinds(write('a'), ack('a', 1), ...retract)).toEqual(['retraction'])
  })

  test('refused: a valid frame, unless the disk is full', () => {
    const refused = received(0, { type: 'error', id: 'a', error: 'INTERNAL' })
    const history = [write('a'), refused, ack('a', 1), arrive('a', 1)]
    expect(kinds(...history)).toEqual(['refused'])
    expect(kinds({ type: 'nemesis', what: 'full', detail: '' }, ...history)).toEqual([])
    const isFull = received(0, { type: 'error', id: 'a', error: 'RELAY_FULL' })
    expect(kinds(write('a'), isFull, ack('a', 1), arrive('a', 1))).toEqual(['refused'])
  })

  test('foreign: delivered to the wrong client, never sent, or a mark beyond the confirmed one', () => {
    const toCarol = received(2, { type: 'msg', id: 'a', seq: 1, at: 1, payload })
    expect(kinds(write('a'), ack('a', 1), arrive('a', 1), toCarol)).toEqual(['foreign'])
    expect(kinds(arrive('b', 1))).toEqual(['foreign'])
    expect(kinds(ack('b', 1))).toEqual(['foreign'])
    expect(kinds(received(1, { type: 'retract', id: 'a', seq: 1, at: 1 }))).toEqual(['foreign'])
    expect(kinds(write('a'), ack('a', 1), arrive('a', 1), told(1))).toEqual(['foreign'])
    expect(kinds(received(1, { type: 'typing' }))).toEqual(['foreign'])
  })

  test('dead: the relay did not start again', () => {
    expect(kinds({ type: 'dead', reason: 'no' })).toEqual(['dead'])
  })
})

test('a history is incomplete only while a frame may still arrive', () => {
  const waiting = check([...start, write('a'), ack('a', 1)])
  expect(isComplete(waiting)).toBe(false)
  expect(isComplete(check([...start, write('a'), ack('a', 1), arrive('a', 1), arrive('a', 1)]))).toBe(true)
})
