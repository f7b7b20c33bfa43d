// Every event in every state, against what is expected of it here in other words than the table's.
import { describe, expect, test } from 'bun:test'
import { type CallEvent, type CallState, callTransitions, nextOf } from './call-states.ts'

const free: CallState[] = ['idle', 'hangup', 'rejected', 'ended']
const busy: CallState[] = ['calling', 'ringing', 'connecting', 'connected']
const states = [...free, ...busy]
const events: CallEvent[] = [
  ...(['call', 'accept', 'hang_up', 'failed', 'stopped', 'timeout', 'reconnected'] as const),
  ...(['call_offer', 'call_answer', 'call_reject', 'call_ice', 'call_hangup'] as const),
  ...(['peer_offer_first', 'peer_offer_second', 'other_offer'] as const),
  ...(['media_connected', 'media_interrupted', 'media_failed', 'link_poor'] as const),
]

// One line an event: which states it matters in, and where it leads from there. All else is ignored.
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
  media_connected: { connecting: 'connected' },
  media_interrupted: { connected: 'connecting', connecting: 'connecting' },
  media_failed: { connecting: 'ended', connected: 'ended' },
  link_poor: same('connected'),
  timeout: { calling: 'ended', ringing: 'ended', connecting: 'ended' },
  reconnected: same('calling', 'connecting', 'connected'),
  failed: all('ended'),
  stopped: all('ended'),
}

function all(to: CallState): Partial<Record<CallState, CallState>> {
  return Object.fromEntries(busy.map((state) => [state, to]))
}

function same(...where: CallState[]): Partial<Record<CallState, CallState>> {
  return Object.fromEntries(where.map((state) => [state, state]))
}

const cases = states.flatMap((state) => events.map((event) => [state, event] as const))

test('the table knows these states and events, and no others', () => {
  expect(Object.keys(callTransitions).toSorted()).toEqual(states.toSorted())
  const known = new Set(Object.values(callTransitions).flatMap((row) => Object.keys(row)))
  expect([...known].toSorted()).toEqual(events.toSorted())
  expect(cases).toHaveLength(8 * 19)
})

test.each(cases)('%s, %s', (state, event) => {
  const next = nextOf(state, event)
  expect(next?.to).toBe(expected[event][state])
  if (!next) return
  const isOver = free.includes(next.to)
  const { effects } = next

  // Whatever is over says why, has its media ended, and waits for nothing; nothing else does.
  expect(next.end === undefined).toBe(!isOver)
  expect(effects.includes('close')).toBe(isOver || effects.includes('begin') !== free.includes(state))
  // A wait is begun with every state that needs one.
  const begins = next.to !== state || effects.includes('begin')
  const waits: readonly string[] = effects.filter((effect) => effect.startsWith('wait_'))
  const needed: Partial<Record<CallState, string[]>> = {
    calling: ['wait_for_answer'],
    ringing: ['wait_for_answer'],
    connecting: ['wait_for_media'],
  }
  expect(waits).toEqual(begins ? (needed[next.to] ?? []) : [])
  expect(effects.includes('stop_waiting')).toBe(begins && next.to === 'connected')
  // The other side is told of every end it does not know of; the one who rings in vain tells it itself.
  const isTold = effects.some((effect) => effect === 'send_hangup' || effect === 'send_reject')
  const knows = event === 'call_hangup' || event === 'call_reject'
  const isCallersToSay = state === 'ringing' && (event === 'timeout' || event === 'stopped')
  if (isOver) expect(isTold).toBe(!knows && !isCallersToSay)
  // Another way is looked for each time the one there was breaks, and at no other time.
  expect(effects.includes('restart_media')).toBe(event === 'media_interrupted')
  // Who is called while there is a call, and not by whom one is calling oneself, is told so.
  const isOffer = event === 'other_offer' || event.startsWith('peer_offer')
  const isAnothers = event === 'other_offer' || state === 'connecting' || state === 'connected'
  expect(effects.includes('send_busy')).toBe(isOffer && isAnothers)
})

describe('both call at once', () => {
  test('one side goes on with its call and the other answers it, whichever offer comes first', () => {
    const [keeps, takes] = [nextOf('calling', 'peer_offer_second'), nextOf('calling', 'peer_offer_first')]
    expect(keeps).toEqual({ to: 'calling', effects: [] })
    // The offer given up is taken back before the other is answered, so that the relay keeps it no longer.
    expect(takes?.effects).toEqual(['send_hangup', 'close', 'begin', 'wait_for_media', 'make_answer'])
    expect(nextOf('calling', 'call_answer')?.to).toBe('connecting')
  })
})

test.each(busy)('from %s, a call always comes to an end', (state) => {
  // Whatever a hostile other side sends: time, the own user and the own relay end it.
  for (const end of ['hang_up', 'stopped', 'failed'] as const)
    expect(free).toContain(nextOf(state, end)?.to ?? 'connected')
  if (state !== 'connected') expect(nextOf(state, 'timeout')?.to).toBe('ended')
})
