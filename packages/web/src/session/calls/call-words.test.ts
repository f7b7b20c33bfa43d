// What people are told about the end of a call.
import { expect, test } from 'bun:test'
import type { CallEnd } from '@sotto/client/browser'
import { calls as t } from '../../texts/en/calls.ts'
import { farewellOf, outcomeOf } from './call-words.ts'

const farewell = (end: CallEnd, isCaller: boolean, wasAnswered = false): string | undefined =>
  farewellOf({ end, isCaller }, { wasAnswered, name: 'Bob', t })

test.each([
  ['hung_up_by_peer', true, true, 'Bob hung up.'],
  ['hung_up_by_peer', false, false, 'You missed a call from Bob.'],
  ['declined', true, false, 'Bob declined the call.'],
  ['declined', false, false, undefined],
  ['busy', true, false, 'Bob is in another call.'],
  ['unanswered', true, false, 'Bob did not answer.'],
  ['unanswered', false, false, 'You missed a call from Bob.'],
  ['connection_lost', true, true, 'The connection to Bob was lost.'],
  ['replaced', false, true, 'The call ended because your account is used on another device now.'],
  ['replaced', false, false, undefined],
  ['hung_up', true, true, undefined],
  ['taken', false, false, undefined],
] as const)('%s, caller: %p, answered: %p', (end, isCaller, wasAnswered, said) => {
  expect(farewell(end, isCaller, wasAnswered)).toBe(said)
})

test('who called without encryption is told, in both directions', () => {
  expect(farewell('unencrypted', false)).toContain('Bob called with an app that does not encrypt')
  expect(farewell('unencrypted', true)).toContain('before anything was sent')
})

test('a logged call says who ended it', () => {
  const call = { id: '1', conversationId: 'with-bob', startedAt: 0 }
  const outcome = (more: { end: string; isCaller: boolean; missed?: boolean; durationMs?: number }): string =>
    outcomeOf({ ...call, missed: false, ...more }, t)
  expect(outcome({ end: 'hung_up', isCaller: true, durationMs: 5000 })).toBe('You hung up')
  expect(outcome({ end: 'hung_up_by_peer', isCaller: true, durationMs: 5000 })).toBe('They hung up')
  expect(outcome({ end: 'connection_lost', isCaller: true, durationMs: 5000 })).toBe('Connection lost')
  expect(outcome({ end: 'replaced', isCaller: true, durationMs: 5000 })).toBe(
    'Ended by another device of yours',
  )
  expect(outcome({ end: 'hung_up', isCaller: true })).toBe('You cancelled')
  expect(outcome({ end: 'declined', isCaller: true })).toBe('Declined')
  expect(outcome({ end: 'declined', isCaller: false })).toBe('You declined')
  expect(outcome({ end: 'unanswered', isCaller: false, missed: true })).toBe('Missed')
  expect(outcome({ end: 'busy', isCaller: false, missed: true })).toBe('Missed during another call')
  expect(outcome({ end: 'unencrypted', isCaller: false, missed: true })).toBe('Refused: not encrypted')
  expect(outcome({ end: 'no_media', isCaller: true })).toBe('Not connected')
})
