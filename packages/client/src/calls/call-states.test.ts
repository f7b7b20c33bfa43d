// Every event in every state: compares the table with an independent description of the expected transitions.
import { describe, expect, test } from 'bun:test'
import { type CallEvent, type CallState, callTransitions, nextOf } from './call-states.ts'

const free: CallState[] = ['idle', 'hangup', 'rejected', 'ended']
const busy: CallState[] = ['calling', 'ringing', 'connecting', 'connected']
const states = [...free, ...busy]
const events: CallEvent[] = [
  ...(['call', 'accept', 'hang_up', 'failed', 'stopped', 'replaced', 'timeout', 'reconnected'] as const),
  ...(['call_offer', 'call_answer', 'call_reject', 'call_ice', 'call_hangup'] as const),
  ...(['peer_offer_first', 'peer_offer_second', 'other_offer'] as const),
  ...(['unencrypted', 'taken'] as const),
  ...(['media_connected', 'media_interrupted', 'media_failed', 'link_poor'] as const),
]

// One entry per event: each state in which it has an effect, and the state that follows. In all other states
// the event is ignored.
const expected: Record<CallEvent, Partial<Record<CallState, CallState>>> = {
  call: { idle: 'calling', hangup: 'calling', rejected: 'calling', ended: 'calling' },
  call_offer: {
    ...{ idle: 'ringing', hangup: 'ringing', rejected: 'ringing', ended: 'ringing' },
    ...same('connecting'),
  },
  accept: { ringing: 'connecting' },
  call_answer: { calling: 'connecting' },
  call_reject: { calling: 'rejected' },
  call_ice: same('calling', 'ringing', 'connecting', 'connected'),
  call_hangup: all('hangup'),
  hang_up: { ...all('hangup'), ringing: 'rejected' },
  peer_offer_first: { ...same('ringing', 'connecting', 'connected'), calling: 'connecting' },
  peer_offer_second: same('calling', 'ringing', 'connecting', 'connected'),
  other_offer: same('calling', 'ringing', 'connecting', 'connected'),
  unencrypted: { idle: 'ended', hangup: 'ended', rejected: 'ended', ended: 'ended', calling: 'ended' },
  media_connected: { connecting: 'connected' },
  media_interrupted: { connected: 'connecting', connecting: 'connecting' },
  media_failed: { connecting: 'ended', connected: 'ended' },
  link_poor: same('connected'),
  taken: { ringing: 'ended' },
  timeout: { calling: 'ended', ringing: 'ended', connecting: 'ended' },
  reconnected: same('calling', 'connecting', 'connected'),
  failed: all('ended'),
  stopped: all('ended'),
  replaced: all('ended'),
}

function all(to: CallState): Partial<Record<CallState, CallState>> {
  return Object.fromEntries(busy.map((state) => [state, to]))
}

function same(...where: CallState[]): Partial<Record<CallState, CallState>> {
  return Object.fromEntries(where.map((state) => [state, state]))
}

const cases = states.flatMap((state) => events.map((event) => [state, event] as const))

test('the table has exactly these states and events', () => {
  expect(Object.keys(callTransitions).toSorted()).toEqual(states.toSorted())
  const known = new Set(Object.values(callTransitions).flatMap((row) => Object.keys(row)))
  expect([...known].toSorted()).toEqual(events.toSorted())
  expect(cases).toHaveLength(8 * 22)
})

test.each(cases)('in the state %s, the event %s has the expected effects', (state, event) => {
  const next = nextOf(state, event)
  expect(next?.to).toBe(expected[event][state])
  if (!next) return
  const isOver = free.includes(next.to)
  const { effects } = next

  // A transition gives a reason if, and only if, it ends the call. It closes the media if it ends the call,
  // or if it begins another attempt during a call.
  expect(next.end === undefined).toBe(!isOver)
  expect(effects.includes('close')).toBe(isOver || effects.includes('begin') !== free.includes(state))
  // A transition to another state, or to another attempt, starts the wait that the new state needs.
  const begins = next.to !== state || effects.includes('begin')
  const waits: readonly string[] = effects.filter((effect) => effect.startsWith('wait_'))
  const needed: Partial<Record<CallState, string[]>> = {
    calling: ['wait_for_answer'],
    ringing: ['wait_for_answer'],
    connecting: ['wait_for_media'],
  }
  expect(waits).toEqual(begins ? (needed[next.to] ?? []) : [])
  expect(effects.includes('stop_waiting')).toBe(begins && next.to === 'connected')
  // The other side gets a signal when this side ends the call. If a ringing call times out or is stopped, the
  // caller sends the hangup.
  const isPeerNotified = effects.some((effect) => effect === 'send_hangup' || effect === 'send_reject')
  const hasPeerEnded = event === 'call_hangup' || event === 'call_reject'
  const isLeftToCaller = state === 'ringing' && ['timeout', 'stopped', 'replaced', 'taken'].includes(event)
  if (isOver) expect(isPeerNotified).toBe(!hasPeerEnded && !isLeftToCaller)
  // The media connection restarts each time it is interrupted, and at no other time.
  expect(effects.includes('restart_media')).toBe(event === 'media_interrupted')
  // Another contact that calls during this call gets `busy`. The contact of this call gets `busy` only once
  // this call has been accepted.
  const isOffer = event === 'other_offer' || event.startsWith('peer_offer')
  const isBusy = event === 'other_offer' || state === 'connecting' || state === 'connected'
  expect(effects.includes('send_busy')).toBe(isOffer && isBusy)
})

describe('both call at once', () => {
  test('one side keeps its call and the other side answers it, no matter which offer is first', () => {
    const [keeps, takes] = [nextOf('calling', 'peer_offer_second'), nextOf('calling', 'peer_offer_first')]
    expect(keeps).toEqual({ to: 'calling', effects: [] })
    // This side withdraws its own offer before it answers, so that the relay deletes it.
    expect(takes?.effects).toEqual(['send_hangup', 'close', 'begin', 'wait_for_media', 'make_answer'])
    expect(nextOf('calling', 'call_answer')?.to).toBe('connecting')
  })
})

test.each(busy)('from %s, a call can always end', (state) => {
  // A hostile peer cannot prevent it: a timeout, the user or the user's relay ends the call.
  for (const end of ['hang_up', 'stopped', 'replaced', 'failed'] as const)
    expect(free).toContain(nextOf(state, end)?.to ?? 'connected')
  if (state !== 'connected') expect(nextOf(state, 'timeout')?.to).toBe('ended')
})
