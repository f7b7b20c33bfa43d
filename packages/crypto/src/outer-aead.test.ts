import { expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  accountKeys,
  anyBytes,
  codeOf,
  expectCode,
  flipBit,
  identity,
  randomBytes,
  vectors,
} from '../test/expectations.ts'
import { bytesToHex } from './hex.ts'
import {
  deriveOuterKey,
  OUTER_OVERHEAD_BYTES,
  type OuterContext,
  openOuter,
  sealOuter,
} from './outer-aead.ts'
import { deriveSessionKey } from './session-key.ts'

const { conv_id: conversationId } = vectors.session
const [a, b] = [vectors.session.a, vectors.session.b]
const keyInput = (mine: number, theirs: number) => ({
  privateKey: identity(mine).agreement.privateKey,
  theirPublicKey: identity(theirs).agreement.publicKey,
  conversationId,
})
const key = await deriveOuterKey(keyInput(a, b))
const context: OuterContext = { conversationId, kind: 'welcome', epoch: 7, sender: accountKeys(a) }
const plaintext = Uint8Array.of(1, 2, 3)

test('both friends derive the same key, and it is not the session key', async () => {
  expect(bytesToHex(await deriveOuterKey(keyInput(b, a)))).toBe(bytesToHex(key))
  expect(bytesToHex(await deriveSessionKey(keyInput(a, b)))).not.toBe(bytesToHex(key))
  const other = await deriveOuterKey({ ...keyInput(a, b), conversationId: `${conversationId}x` })
  expect(bytesToHex(other)).not.toBe(bytesToHex(key))
})

test('a public key that gives a secret of zeros is refused', async () => {
  await expectCode('WEAK_KEY', () =>
    deriveOuterKey({ ...keyInput(a, b), theirPublicKey: new Uint8Array(32) }),
  )
})

test('a handshake opens to the same bytes, in its context only', async () => {
  const otherX25519 = { ...accountKeys(a), x25519: accountKeys(b).x25519 }
  const otherEd25519 = { ...accountKeys(a), ed25519: accountKeys(b).ed25519 }
  const others: Partial<OuterContext>[] = [
    { conversationId: `${conversationId}x` },
    { kind: 'commit' },
    { kind: 'rejoin' },
    { kind: 'group_info' },
    { epoch: 6 },
    { epoch: 8 },
    // What a relay that sends a handshake back to its author would need.
    { sender: accountKeys(b) },
    { sender: otherX25519 },
    { sender: otherEd25519 },
  ]
  const sealed = await sealOuter({ ...context, key, plaintext, randomBytes })
  expect(sealed.length).toBe(plaintext.length + OUTER_OVERHEAD_BYTES)
  expect(await openOuter({ ...context, key, sealed })).toEqual(plaintext)
  for (const other of others)
    expect([other, await codeOf(() => openOuter({ ...context, ...other, key, sealed }))]).toEqual([
      other,
      'DECRYPTION_FAILED',
    ])
  await expectCode('DECRYPTION_FAILED', () => openOuter({ ...context, key: flipBit(key, 3), sealed }))
})

test('any handshake opens to the same bytes, and its nonce is new each time', async () => {
  const kind = fc.constantFrom<OuterContext['kind'][]>('welcome', 'commit', 'rejoin', 'group_info')
  const nonces = new Set<string>()
  await fc.assert(
    fc.asyncProperty(anyBytes(5000), kind, fc.maxSafeNat(), async (bytes, what, epoch) => {
      const of = { ...context, kind: what, epoch, key }
      const sealed = await sealOuter({ ...of, plaintext: bytes, randomBytes })
      expect(await openOuter({ ...of, sealed })).toEqual(new Uint8Array(bytes))
      nonces.add(bytesToHex(sealed.subarray(0, 12)))
    }),
    { numRuns: 50 },
  )
  expect(nonces.size).toBe(50)
})

test('sealed bytes with any flipped bit or any missing byte are refused', async () => {
  const sealed = await sealOuter({ ...context, key, plaintext, randomBytes })
  for (let bit = 0; bit < sealed.length * 8; bit += 1)
    await expectCode('DECRYPTION_FAILED', () => openOuter({ ...context, key, sealed: flipBit(sealed, bit) }))
  for (let length = 0; length < sealed.length; length += 1)
    await expectCode('DECRYPTION_FAILED', () =>
      openOuter({ ...context, key, sealed: sealed.subarray(0, length) }),
    )
})

test('invalid arguments are refused', async () => {
  const good = { ...context, key, plaintext, randomBytes }
  for (const wrong of [
    { conversationId: '' },
    { kind: 'toString' },
    { epoch: -1 },
    { epoch: 2 ** 53 },
    { plaintext: 'text' },
    { randomBytes: () => new Uint8Array(11) },
  ])
    expect([wrong, await codeOf(() => sealOuter({ ...good, ...wrong } as never))]).toEqual([
      wrong,
      'INVALID_ARGUMENT',
    ])
  const short = { ...accountKeys(a), ed25519: new Uint8Array(31) }
  for (const wrong of [{ key: new Uint8Array(31) }, { sender: short }])
    await expectCode('INVALID_KEY', () => sealOuter({ ...good, ...wrong }))
})
