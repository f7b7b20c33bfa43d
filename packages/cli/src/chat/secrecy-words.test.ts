// The sentences about forward secrecy: each notice has one, with the command that decides where one does.
import { expect, test } from 'bun:test'
import type { SecrecyEvent } from '@sotto/client'
import { secrecyNotice } from './secrecy-words.ts'

type Notice = SecrecyEvent['notice']

function wordsOf(notice: Notice): string {
  return secrecyNotice(notice, 'Bob', 'u1') ?? ''
}

test('every notice is said in one line with the name, but a message that cannot be opened, which is said elsewhere', () => {
  const plain = [
    ...['began', 'displaced', 'out_of_order', 'history_differs', 'forked', 'false_handshake'],
    ...['false_group_info', 'foreign_key_package', 'no_key_packages', 'relay_restored', 'relay_went_back'],
    ...['store_behind', 'handshake_failed', 'lowered', 'waits', 'later_version'],
  ] as const
  const notices: readonly Notice[] = [
    ...plain.map((tell) => ({ tell }) as const),
    { tell: 'rejoined', by: 'peer' },
    { tell: 'rejoined', by: 'own' },
    { tell: 'asks', of: 'own_rejoins' },
    { tell: 'asks', of: 'peer_rejoins' },
    { tell: 'missing', count: 1 },
    { tell: 'missing', count: 2 },
  ]
  const lines = notices.map(wordsOf)
  for (const line of lines) expect(line).toMatch(/^[•!] .*Bob.*\.$/)
  expect(new Set(lines).size).toBe(lines.length)
  expect(secrecyNotice({ tell: 'unreadable', id: 'm' }, 'Bob', 'u1')).toBeUndefined()
})

test('what waits for the user names the command, with the alias', () => {
  expect(wordsOf({ tell: 'displaced' })).toContain('/rejoin u1 ')
  expect(wordsOf({ tell: 'asks', of: 'own_rejoins' })).toContain('/rejoin u1 ')
  expect(wordsOf({ tell: 'asks', of: 'peer_rejoins' })).toContain('/allowrejoin u1 ')
  expect(wordsOf({ tell: 'no_key_packages' })).toContain('/allowolder u1 ')
  expect(wordsOf({ tell: 'waits' })).toContain('/allowolder u1 ')
})

test('an own rejoin says why', () => {
  expect(wordsOf({ tell: 'rejoined', by: 'own', reason: 'no_state' })).toBe(
    '• This device has joined the conversation with Bob again, because it had no keys for it. Bob sees it.',
  )
})
