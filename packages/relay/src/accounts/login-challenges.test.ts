// Login challenges: bound to host and account, short-lived, and impossible to forge or change.
import { expect, test } from 'bun:test'
import { AccountUuid, check } from '@sotto/protocol'
import { systemRandom } from '../operations/random.ts'
import { createChallenge, readChallenge } from './login-challenges.ts'
import type { RelayKeys } from './relay-keys.ts'

const uuid = check(AccountUuid, 'c3a1f0de-5b7a-4c1d-9e2f-0123456789ab')
const other = check(AccountUuid, 'c3a1f0de-5b7a-4c1d-9e2f-0123456789ac')
const keys: RelayKeys = [{ kid: 'new', secret: systemRandom(32) }]
const bound = { host: 'relay.example:8443', uuid }
const challenge = createChallenge(bound, 61_000, { keys, randomBytes: systemRandom })

test('a challenge names its host and account, and is valid until it expires', () => {
  expect(challenge).toMatch(
    /^relay-auth-v1:relay\.example:8443:c3a1f0de-5b7a-4c1d-9e2f-0123456789ab:[\w-]{43}$/,
  )
  expect(readChallenge(challenge, bound, { keys, now: 60_999 })).toMatchObject({ expiresAt: 61_000 })
  expect(readChallenge(challenge, bound, { keys, now: 61_000 })).toBeUndefined()
})

test('a challenge is invalid for another host or account, also if its text is changed to name them', () => {
  const now = 1000
  for (const elsewhere of [
    { ...bound, host: 'relay.example' },
    { ...bound, host: 'evil.example' },
    { ...bound, uuid: other },
  ]) {
    expect(readChallenge(challenge, elsewhere, { keys, now })).toBeUndefined()
    const rewritten = challenge.replace(bound.host, elsewhere.host).replace(bound.uuid, elsewhere.uuid)
    expect(readChallenge(rewritten, elsewhere, { keys, now })).toBeUndefined()
  }
})

test('a challenge with any changed character is invalid', () => {
  for (let at = 0; at < challenge.length; at++) {
    for (const letter of ['A', 'b', '0', '_', ':']) {
      if (challenge[at] === letter) continue
      const tampered = challenge.slice(0, at) + letter + challenge.slice(at + 1)
      expect(readChallenge(tampered, bound, { keys, now: 1000 })).toBeUndefined()
    }
  }
  for (const tampered of [`${challenge}A`, challenge.slice(0, -1), `${challenge}\n`, '', 'relay-auth-v1']) {
    expect(readChallenge(tampered, bound, { keys, now: 1000 })).toBeUndefined()
  }
})

test('a relay’s older key still verifies, another relay’s does not', () => {
  const newer = { kid: 'newer', secret: systemRandom(32) }
  expect(readChallenge(challenge, bound, { keys: [newer, keys[0]], now: 1000 })).toBeDefined()
  expect(readChallenge(challenge, bound, { keys: [newer], now: 1000 })).toBeUndefined()
})

test('all challenges are different', () => {
  const made = Array.from({ length: 100 }, () =>
    createChallenge(bound, 61_000, { keys, randomBytes: systemRandom }),
  )
  expect(new Set(made).size).toBe(100)
})
