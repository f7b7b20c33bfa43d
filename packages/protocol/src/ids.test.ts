// The forms of identifiers and encoded values, at their limits.
import { describe, expect, test } from 'bun:test'
import * as v from 'valibot'
import { AccountUuid, AliasId, Name, PublicKey, Seq, Signature, Timestamp } from './ids.ts'
import { defaultLimits, limits } from './limits.ts'
import { rates } from './rates.ts'

const key = (last: string) => `${'A'.repeat(42)}${last}=`

test.each([
  [
    'alias',
    AliasId,
    ['abc', 'u12345678', '_'.repeat(32)],
    ['', 'ab', 'a'.repeat(33), 'Abc', 'a-b', 'abc ', 'abc\n', 'äöü', 'a.b'],
  ],
  [
    'uuid',
    AccountUuid,
    ['c3a1f0de-5b7a-4c1d-9e2f-0123456789ab', '00000000-0000-4000-8000-000000000000'],
    [
      'c3a1f0de-5b7a-4c1d-9e2f-0123456789aB',
      'c3a1f0de-5b7a-1c1d-9e2f-0123456789ab',
      'c3a1f0de-5b7a-4c1d-7e2f-0123456789ab',
      '',
    ],
  ],
  [
    'public key',
    PublicKey,
    [key('A'), key('8')],
    [key('B'), key('9'), key('A').slice(0, -1), `${key('A')}=`, '', 'A'.repeat(44)],
  ],
  [
    'signature',
    Signature,
    [`${'A'.repeat(85)}w==`],
    [`${'A'.repeat(85)}B==`, 'A'.repeat(88), `${'A'.repeat(85)}A=`],
  ],
  [
    'timestamp',
    Timestamp,
    ['2026-01-02T03:04:05.678Z'],
    ['2026-01-02T03:04:05Z', '2026-01-02 03:04:05.678Z'],
  ],
  [
    'nickname',
    Name,
    ['a', ' a ', '𝒜'.repeat(64), 'Ada Lovelace', '名前', '👩‍💻', 'a\u0007', `${'a'.repeat(64)}\u200b`],
    ['', ' ', '\t', '\u200b\u202e', '\u2800', 'a'.repeat(65), '\ud800', '\u00a0\u2003'],
  ],
] as const)('%s: valid values are accepted, and all others refused', (_name, schema, right, wrong) => {
  for (const text of right) expect([text, v.is(schema, text)]).toEqual([text, true])
  for (const text of [...wrong, 7, null, undefined, {}, []])
    expect([text, v.is(schema, text)]).toEqual([text, false] as never)
})

test('a seq is a whole number from 1 to the largest that a JavaScript number represents exactly', () => {
  for (const seq of [1, 2, Number.MAX_SAFE_INTEGER]) expect(v.is(Seq, seq)).toBe(true)
  for (const seq of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, '1', null])
    expect(v.is(Seq, seq)).toBe(false)
})

describe('the table of limits', () => {
  test('gives each limit a default between its minimum and maximum, and a unique setting', () => {
    for (const [name, { default: usual, min, max }] of Object.entries(limits)) {
      expect([name, usual >= min && usual <= max]).toEqual([name, true])
    }
    const settings = [...Object.values(limits), ...Object.values(rates)].map(({ setting }) => setting)
    expect(new Set(settings).size).toBe(settings.length)
  })

  test('has the values that the protocol document promises', () => {
    expect(defaultLimits()).toMatchObject({
      frameBytes: 256 * 1024,
      payloadCharacters: 64 * 1024,
      bodyBytes: 64 * 1024,
      heldBytes: 4 * 1024 * 1024,
      idleSeconds: 75,
      mailboxMessages: 10_000,
      mailboxBytes: 64 * 1024 * 1024,
      conversationPercent: 20,
      messageLifeDays: 30,
      sentIdDays: 90,
      rejectionDays: 30,
      tokenSeconds: 86_400,
      ticketSeconds: 30,
      challengeSeconds: 60,
      powSeconds: 300,
      powDifficulty: 4,
      powOpen: 1024,
    })
    expect(rates.message).toMatchObject({ burst: 500, perSeconds: 10 })
  })
})
