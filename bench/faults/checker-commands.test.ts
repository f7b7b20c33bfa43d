// Handmade histories of ended and renewed friendships, blocks, deleted accounts and expired messages. The
// checker must report each broken rule, and nothing else.
import { describe, expect, test } from 'bun:test'
import { check } from './checker.ts'
import { digestOf, type Ending, type Errand, type Frame, type HistoryEvent } from './history.ts'

const CONV = 'conv'
const names = ['alice', 'bob', 'carol']
const payload = digestOf('hello')

// Alice and Bob are friends; Carol has no friends. The number of a client's first connection is ten times the
// client's number, plus ten.
const start: readonly HistoryEvent[] = [
  {
    type: 'friends',
    conv: CONV,
    members: [
      { client: 0, alias: 'alice' },
      { client: 1, alias: 'bob' },
    ],
  },
  { type: 'account', client: 2, alias: 'carol' },
  opening(0, 10),
  opening(1, 20),
  opening(2, 30),
]

function opening(client: number, connection: number): HistoryEvent {
  return { type: 'opening', client, connection }
}

function sent(client: number, frame: Frame): HistoryEvent {
  return { type: 'sent', client, connection: client * 10 + 10, frame: { conv_id: CONV, ...frame } }
}

function received(client: number, frame: Frame, connection = client * 10 + 10): HistoryEvent {
  const named = ['ack', 'retract_ack', 'error'].includes(frame.type) ? {} : { to: names[client] ?? '' }
  const from = client === 0 ? 'bob' : 'alice'
  return { type: 'received', client, connection, frame: { conv_id: CONV, from, ...named, ...frame } }
}

const write = (id: string): HistoryEvent => sent(0, { type: 'msg', id, payload })
const ack = (id: string, seq: number): HistoryEvent => received(0, { type: 'ack', id, seq, at: seq })
const arrive = (id: string, seq: number, connection = 20): HistoryEvent =>
  received(1, { type: 'msg', id, seq, at: seq, payload }, connection)
const refused = (id: string, error = 'NOT_FRIENDS'): HistoryEvent => received(0, { type: 'error', id, error })
const retract = [sent(0, { type: 'retract', id: 'a' }), received(0, { type: 'retract_ack', id: 'a' })]
const confirmed = [sent(1, { type: 'delivered', seq: 1 }), received(0, { type: 'delivered', seq: 1 })]

/** A client's request, from sending it to its answer. */
function asks(client: number, what: Errand, about: { command: number; peer?: string }) {
  const { command, peer = '' } = about
  const began: HistoryEvent = { type: 'began', client, command, what, peer }
  const ended = (ending: Ending): HistoryEvent => ({ type: 'ended', client, command, ...ending })
  const done = [began, ended({ outcome: 'done' })]
  return { began, ended, done, unknown: ended({ outcome: 'unknown' }) }
}

const block = asks(1, 'block', { command: 1, peer: 'alice' })
const part = asks(1, 'part', { command: 2, peer: 'alice' })
const ask = asks(0, 'ask', { command: 3, peer: 'bob' })
const accept = asks(1, 'accept', { command: 4, peer: 'alice' })
const unblock = asks(1, 'unblock', { command: 5, peer: 'alice' })
const leave = asks(1, 'leave', { command: 6 })
const look = asks(0, 'look', { command: 7 })
const pending = ask.ended({ outcome: 'done', status: 'pending', friendship: 9 })
const accepted = accept.ended({ outcome: 'done', friendship: 9, conv: CONV })
const again = [ask.began, pending, accept.began, accepted]
const listing = (status?: string): HistoryEvent => {
  const row = { alias: 'bob', status: status ?? '', direction: 'sent', friendship: 9, conv: '' }
  return look.ended({ outcome: 'done', list: status ? [row] : [] })
}

function kinds(...events: readonly HistoryEvent[]): string[] {
  return check([...start, ...events]).map(({ kind }) => kind)
}

describe.each([
  ['parted', part, again],
  ['blocked', block, [...unblock.done, ...again]],
])('after the friendship ended: %s', (_, end, again) => {
  test('messages may be refused, and only then', () => {
    expect(kinds(...end.done, write('a'), refused('a'))).toEqual([])
    expect(kinds(write('a'), refused('a'))).toEqual(['refused'])
    expect(kinds(...end.done, ...again, write('a'), refused('a'))).toEqual(['refused'])
    // It was in transit when the friendship ended, so both outcomes are possible.
    expect(kinds(write('a'), ...end.done, refused('a'))).toEqual([])
    expect(kinds(write('a'), ...end.done, ack('a', 1))).toEqual([])
  })

  test('a message whose refusal its client missed is stored later than those that were written after it', () => {
    const later = [write('b'), ack('b', 1), arrive('b', 1), write('a'), ack('a', 2), arrive('a', 2)]
    expect(kinds(...end.done, write('a'), ...again, ...later)).toEqual([])
    expect(kinds(...end.done, ...again, write('a'), ...later)).toEqual(['order'])
  })

  test('no message is stored or shown', () => {
    expect(kinds(...end.done, write('a'), ack('a', 1), arrive('a', 1))).toEqual(['parted'])
    expect(kinds(...end.done, write('a'), arrive('a', 1), refused('a'))).toEqual(['parted'])
    expect(kinds(...end.done, ...again, write('a'), ack('a', 1), arrive('a', 1))).toEqual([])
  })

  test('no message gets a lower number than one that was stored before it: numbers are assigned in order', () => {
    const late = [write('b'), ack('b', 2), ack('a', 1)]
    expect(kinds(write('a'), ...end.done, ...late)).toContain('parted')
  })

  test('undelivered messages may be missing, but later ones may not', () => {
    expect(kinds(write('a'), ack('a', 1), ...end.done)).toEqual([])
    expect(kinds(...end.done, ...again, write('a'), ack('a', 1))).toEqual(['lost'])
    const later = [write('b'), ack('b', 2), arrive('b', 2), ack('a', 3)]
    expect(kinds(write('a'), ...end.done, ...again, ...later)).toContain('lost')
  })

  test('undelivered messages are not shown on later connections', () => {
    const before = [write('a'), ack('a', 1), ...end.done]
    expect(kinds(...before, arrive('a', 1))).toEqual([]) // It was in transit.
    expect(kinds(...before, opening(1, 21), arrive('a', 1, 21))).toEqual(['parted'])
  })

  test('earlier retractions and marks may be missing, with their numbers; later ones may not', () => {
    const shown = [write('a'), ack('a', 1), arrive('a', 1)]
    const next = [write('b'), ack('b', 3), arrive('b', 3)]
    expect(kinds(...shown, ...retract, ...end.done, ...again, ...next)).toEqual([])
    expect(kinds(...shown, ...end.done, ...again, ...retract, ...next)).toEqual(['gap', 'retraction'])
    expect(kinds(...shown, ...end.done, ...again, ...next)).toEqual(['gap'])
    expect(kinds(...shown, ...confirmed.slice(0, 1), ...end.done)).toEqual([])
    expect(kinds(...shown, ...end.done, ...confirmed.slice(0, 1))).toEqual(['receipt'])
  })
})

describe('a request with an unknown outcome', () => {
  test('may or may not have taken effect', () => {
    for (const end of [[part.unknown], []]) {
      const history = [part.began, ...end, write('a')]
      expect(kinds(...history, refused('a'))).toEqual([])
      expect(kinds(...history, ack('a', 1), arrive('a', 1))).toEqual([])
    }
    expect(kinds(...part.done, accept.began, accept.unknown, write('a'), refused('a'))).toEqual([])
    const befriended = [...part.done, ask.began, pending, accept.began, accept.unknown]
    expect(kinds(...befriended, write('a'), ack('a', 1), arrive('a', 1))).toEqual([])
  })

  test('is decided by what a client sees later', () => {
    const seen = (status?: string) => [part.began, part.unknown, look.began, listing(status)]
    expect(kinds(...seen('accepted'), write('a'), ack('a', 1))).toEqual(['lost'])
    // It may have been processed just before.
    expect(kinds(...seen('accepted'), write('a'), refused('a'))).toEqual([])
    expect(kinds(...seen(), write('a'), ack('a', 1), arrive('a', 1))).toEqual(['parted'])
  })

  test('has no effect if it was refused after all', () => {
    const error = part.ended({ outcome: 'refused', error: 'NO_CONNECTION' })
    expect(kinds(part.began, error, write('a'), refused('a'))).toEqual(['refused'])
  })
})

describe("the relay's answers about friendship must be possible:", () => {
  test('the friend list', () => {
    expect(kinds(look.began, listing('accepted'))).toEqual([])
    expect(kinds(look.began, listing())).toEqual(['friends'])
    expect(kinds(...part.done, look.began, listing('accepted'))).toEqual(['friends'])
    expect(kinds(look.began, ...part.done, listing('accepted'))).toEqual([])
  })

  test('refused requests', () => {
    const error = (code: string) => ask.ended({ outcome: 'refused', error: code })
    expect(kinds(ask.began, error('ALREADY_FRIENDS'))).toEqual([])
    expect(kinds(...part.done, ask.began, error('ALREADY_FRIENDS'))).toEqual(['refused'])
    expect(kinds(ask.began, error('NOT_FOUND'))).toEqual(['refused'])
    expect(kinds(leave.began, ask.began, error('NOT_FOUND'))).toEqual([])
    expect(kinds(ask.began, error('UNBLOCK_FIRST'))).toEqual(['refused'])
    expect(kinds(ask.began, pending)).toEqual(['friends'])
    const gone = part.ended({ outcome: 'refused', error: 'NOT_FOUND' })
    expect(kinds(part.began, gone)).toEqual(['refused'])
    expect(kinds(part.began, ask.ended({ outcome: 'unknown', error: 'INTERNAL' }))).toEqual([])
    expect(kinds(part.began, part.ended({ outcome: 'unknown', error: 'INTERNAL' }))).toEqual(['refused'])
  })

  test('the conversation stays the same', () => {
    const other = accept.ended({ outcome: 'done', friendship: 9, conv: 'other' })
    expect(kinds(...part.done, ask.began, pending, accept.began, other)).toEqual(['friends'])
    const frame = received(0, { type: 'friend_accepted', friendship_id: 9, conv_id: 'other' })
    expect(kinds(...part.done, ...again, frame)).toEqual(['friends'])
  })

  test('a request reaches only its recipient, and not if the recipient blocks the sender', () => {
    const frame = received(1, { type: 'friend_request', friendship_id: 9 })
    expect(kinds(frame)).toEqual(['friends'])
    expect(kinds(...part.done, ask.began, frame, pending)).toEqual([])
    expect(kinds(...block.done, ask.began, pending, frame)).toEqual(['friends'])
    expect(kinds(...block.done, ask.began, pending, ...unblock.done, frame)).toEqual(['friends'])
    expect(kinds(...block.done, ask.began, ...unblock.done, frame, pending)).toEqual([])
  })

  test('no account becomes the friend of one that blocks it', () => {
    expect(kinds(...block.done, ...again)).toEqual(['friends'])
    expect(kinds(...block.done, ...unblock.done, ...again)).toEqual([])
  })

  test('an acceptance is reported only if there was one, and only from a known account', () => {
    const frame = received(0, { type: 'friend_accepted', friendship_id: 9 })
    expect(kinds(frame)).toEqual(['friends'])
    expect(kinds(...part.done, ...again, frame)).toEqual([])
    expect(kinds(received(0, { type: 'friend_accepted', from: 'dave' }))).toEqual(['foreign'])
  })
})

describe('after an account was deleted', () => {
  test('messages to it may stay undelivered, and its frames unanswered', () => {
    expect(kinds(write('a'), ack('a', 1), ...leave.done)).toEqual([])
    expect(kinds(sent(1, { type: 'msg', id: 'b', payload }), ...leave.done)).toEqual([])
    expect(kinds(write('a'), leave.began, leave.unknown, refused('a'))).toEqual([])
  })

  test('its messages still arrive, and messages to it are refused', () => {
    const words = [
      sent(1, { type: 'msg', id: 'b', payload }),
      received(1, { type: 'ack', id: 'b', seq: 1, at: 1 }),
    ]
    expect(kinds(...words, ...leave.done)).toEqual(['lost'])
    expect(kinds(...leave.done, write('a'), ack('a', 1))).toEqual(['parted'])
    expect(kinds(...leave.done, write('a'), refused('a'))).toEqual([])
  })

  test('its marks still arrive if the relay certainly received them', () => {
    const taken = [
      write('a'),
      ack('a', 1),
      arrive('a', 1),
      sent(1, { type: 'delivered', seq: 1 }),
      sent(1, { type: 'msg', id: 'b', payload }),
      received(1, { type: 'ack', id: 'b', seq: 2, at: 2 }),
      received(0, { type: 'msg', id: 'b', seq: 2, at: 2, payload }),
      ...leave.done,
    ]
    expect(kinds(...taken)).toEqual(['receipt'])
    expect(kinds(...taken, received(0, { type: 'delivered', seq: 1 }))).toEqual([])
  })

  test('a refused deletion changes nothing', () => {
    const dead = leave.ended({ outcome: 'refused', error: 'TOKEN_DEAD' })
    expect(kinds(leave.began, dead, write('a'), ack('a', 1))).toEqual(['lost'])
  })
})

describe('a message that expired', () => {
  const old: HistoryEvent = { type: 'old', before: 100 }
  const stored = [write('a'), ack('a', 1)]

  test('may be missing if it was old enough, and its sender must be told', () => {
    expect(kinds(...stored, old, refused('a', 'EXPIRED'))).toEqual([])
    expect(kinds(...stored, old)).toEqual(['expiry'])
    expect(kinds(...stored, { type: 'old', before: 1 }, refused('a', 'EXPIRED'))).toEqual(['expiry', 'lost'])
    expect(kinds(old, ...stored)).toEqual(['lost'])
  })

  test('is not reported to its sender if it was confirmed, retracted or erased before', () => {
    const told = refused('a', 'EXPIRED')
    expect(kinds(...stored, arrive('a', 1), old, told)).toEqual([]) // Received but not confirmed.
    expect(kinds(...stored, arrive('a', 1), ...confirmed, old, told)).toEqual(['expiry'])
    expect(kinds(...stored, arrive('a', 1), old, told, ...confirmed)).toEqual([])
    expect(kinds(...stored, ...retract, old, told)).toEqual(['expiry'])
    expect(kinds(...stored, ...part.done, old, told)).toEqual(['expiry'])
    expect(kinds(old, told)).toEqual(['foreign'])
  })

  test('allows retractions of the same age to be missing', () => {
    expect(kinds(...stored, arrive('a', 1), ...retract, old)).toEqual([])
    expect(kinds(...stored, arrive('a', 1), old, ...retract)).toEqual(['retraction'])
  })
})
