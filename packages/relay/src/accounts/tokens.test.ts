// Tokens: one algorithm, one issuer, one audience. Other tokens are refused, even if signed with the right
// secret.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { AccountUuid, check } from '@sotto/protocol'
import { type Algorithm, createSigner } from 'fast-jwt'
import { failureOf } from '../../../protocol/test/failure-of.ts'
import { engines, type TestStore } from '../../test/engines.ts'
import { systemRandom } from '../operations/random.ts'
import type { RelayKeys } from './relay-keys.ts'
import { Tokens } from './tokens.ts'

const uuid = check(AccountUuid, 'c3a1f0de-5b7a-4c1d-9e2f-0123456789ab')
const keys: RelayKeys = [{ kid: 'k', secret: systemRandom(64) }]
const clock = { now: () => 1_800_000_000_000, monotonic: () => 0 }
let store: TestStore
let tokens: Tokens

beforeAll(async () => {
  const [engine] = engines
  if (!engine) throw new Error('there is no engine')
  store = await engine.open()
  tokens = new Tokens({
    storage: store.storage,
    keys: { current: keys },
    clock,
    randomBytes: systemRandom,
    lifeSeconds: 60,
  })
})

afterAll(() => store.remove())

/** A token signed with the relay's secret, with the changes in `change`. */
function signed(change: { alg?: Algorithm; kid?: string; claims?: Record<string, unknown> } = {}): string {
  const iat = clock.now() / 1000
  const usual = { iss: 'sotto-relay', aud: 'sotto', sub: uuid, jti: 'j', iat, exp: iat + 60 }
  const { alg = 'HS256', kid = 'k', claims } = change
  return createSigner({ key: Buffer.from(keys[0].secret), algorithm: alg, kid })({ ...usual, ...claims })
}

test('a token of this relay is read, and counts as revoked if its account does not exist', async () => {
  const { token } = tokens.issue({ uuid, logged_out_at: 0 })
  expect(await tokens.read(token)).toMatchObject({ uuid, account: undefined, dead: 'revoked' })
  expect(await tokens.read(signed())).toMatchObject({ uuid, jti: 'j', expiresAt: clock.now() + 60_000 })
})

test.each<[string, { alg?: Algorithm; kid?: string; claims?: Record<string, unknown> }]>([
  ['another algorithm', { alg: 'HS512' }],
  ['another algorithm of the same kind', { alg: 'HS384' }],
  ['an unknown key', { kid: 'other' }],
  ['another issuer', { claims: { iss: 'other' } }],
  ['another audience', { claims: { aud: 'other' } }],
  ['no audience', { claims: { aud: undefined } }],
  ['no subject', { claims: { sub: undefined } }],
  ['no id', { claims: { jti: undefined } }],
  ['no end', { claims: { exp: undefined } }],
])('a token with %s is refused, even with the right secret', async (_what, change) => {
  expect(String(await failureOf(tokens.read(signed(change))))).toContain('UNAUTHENTICATED')
})
