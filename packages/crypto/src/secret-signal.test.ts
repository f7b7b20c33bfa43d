import { expect, test } from 'bun:test'
import { createCipheriv, createHash, hkdfSync } from 'node:crypto'
import fc from 'fast-check'
import {
  accountKeys,
  anyBytes,
  codeOf,
  expectCode,
  fixedBytes,
  flipBit,
  randomBytes,
} from '../test/expectations.ts'
import { deriveCallMediaKey } from './call-media.ts'
import { SeenCallNonces } from './call-signal.ts'
import { bytesToHex } from './hex.ts'
import { pad } from './padding.ts'
import {
  type CallKeyPlace,
  deriveMediaSecret,
  epochOfSignal,
  type OpenSecretSignalInput,
  openSecretSignal,
  type SealSecretSignalInput,
  sealSecretSignal,
} from './secret-signal.ts'

const NOW = 1_800_000_000_000
const place: CallKeyPlace = {
  epochSecret: new Uint8Array(32).fill(5),
  conversationId: 'conv-1',
  callId: 'call-1',
  epoch: 7,
  sender: accountKeys(0),
}
const offer: SealSecretSignalInput = {
  ...{ ...place, type: 'call_offer', from: 'u00000001', callEpoch: 6 },
  ...{ fields: { sdp: 'v=0\r\n', epoch: 1 }, nowMs: NOW, randomBytes },
}
const frame = { type: offer.type, call_id: offer.callId, from: offer.from }
const sealed = await sealSecretSignal(offer)

function open(changed: Partial<OpenSecretSignalInput> = {}) {
  const seenNonces = new SeenCallNonces()
  return openSecretSignal({ ...place, frame, sealed, nowMs: NOW, seenNonces, ...changed })
}

test('a signal opens to what was sealed, and names its epoch', async () => {
  expect(epochOfSignal(sealed)).toBe(7)
  expect(await open()).toEqual({
    ok: true,
    signal: {
      ...{ type: 'call_offer', callId: 'call-1', from: 'u00000001', sentAtMs: NOW, callEpoch: 6 },
      ...{ nonce: bytesToHex(sealed.subarray(2, 14)), fields: offer.fields },
    },
  })
})

test('a signal opens in its own place only', async () => {
  const others: Partial<OpenSecretSignalInput>[] = [
    { epochSecret: new Uint8Array(32).fill(6) },
    { conversationId: 'conv-2' },
    // What a relay that sends a signal back to its author would need.
    { sender: accountKeys(1) },
    { sender: { ...accountKeys(0), ed25519: accountKeys(1).ed25519 } },
    { frame: { ...frame, type: 'call_hangup' } },
    { frame: { ...frame, call_id: 'call-2' } },
    { frame: { ...frame, from: 'u00000002' } },
    // The header says another epoch.
    { sealed: Uint8Array.of(1, 8, ...sealed.subarray(2)) },
  ]
  for (const changed of others)
    expect(await open(changed)).toEqual({ ok: false, reason: 'DECRYPTION_FAILED' })
})

/** Seals any plaintext as `docs/cryptography.md` says, with another implementation of every primitive. */
function sealByHand(plaintext: Uint8Array): Uint8Array {
  const text = (value: string): Buffer => Buffer.from([value.length, ...Buffer.from(value)])
  const epoch = Buffer.from([0, 0, 0, 0, 0, 0, 0, place.epoch])
  const keys = Buffer.concat([place.sender.x25519, place.sender.ed25519])
  const info = Buffer.concat([text('sotto-call-signal-key-v1'), text(place.conversationId), epoch, keys])
  const salt = createHash('sha256').update(place.callId).digest()
  const key = new Uint8Array(hkdfSync('sha256', place.epochSecret, salt, info, 32))
  const nonce = Buffer.alloc(12, 9)
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  const parts = [text('sotto-call-signal-v1'), text(place.conversationId), text(place.callId)]
  cipher.setAAD(Buffer.concat([...parts, Buffer.from([1]), epoch, text(frame.from), keys]))
  const sealedParts = [Buffer.from([1, place.epoch]), nonce, cipher.update(plaintext), cipher.final()]
  return new Uint8Array(Buffer.concat([...sealedParts, cipher.getAuthTag()]))
}

test('the document describes what is sealed, and a friend who seals something else is refused', async () => {
  const time = new Uint8Array(8)
  new DataView(time.buffer).setBigUint64(0, BigInt(NOW))
  const text = (json: string): Uint8Array => Uint8Array.of(json.length, ...new TextEncoder().encode(json))
  const openPlain = async (plaintext: Uint8Array) => open({ sealed: sealByHand(plaintext) })
  const good = Uint8Array.of(...time, 6, ...text('{"sdp":"x"}'))
  const opened = await openPlain(pad(good))
  expect(opened).toMatchObject({ ok: true, signal: { callEpoch: 6, sentAtMs: NOW, fields: { sdp: 'x' } } })
  for (const bad of [
    good,
    new Uint8Array(),
    pad(new Uint8Array()),
    pad(time),
    pad(Uint8Array.of(...good, 0)),
    pad(good.subarray(0, -1)),
    pad(Uint8Array.of(...time, 6, 2, 0xff, 0xfe)),
    ...['null', '[]', '7', '', '{', `{"a":${'['.repeat(40)}${']'.repeat(40)}}`].map((json) =>
      pad(Uint8Array.of(...time, 6, ...text(json))),
    ),
    pad(Uint8Array.of(...new Uint8Array(8).fill(255), 6, ...text('{}'))),
  ])
    expect<unknown>([bad, await openPlain(bad)]).toEqual([bad, { ok: false, reason: 'MALFORMED' }])
})

test('an altered signal is refused, and never anything but refused', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(), async (bit) => {
      const opened = await open({ sealed: flipBit(sealed, bit) })
      expect(opened.ok).toBe(false)
    }),
  )
  await fc.assert(
    fc.asyncProperty(anyBytes(), async (bytes) => {
      expect((await open({ sealed: bytes })).ok).toBe(false)
      epochOfSignal(bytes)
    }),
  )
})

test('signals that are malformed, old, from the future or repeated are refused', async () => {
  const reasonOf = async (changed: Partial<OpenSecretSignalInput>) => {
    const opened = await open(changed)
    return opened.ok ? 'ok' : opened.reason
  }
  expect(await reasonOf({ sealed: Uint8Array.of(2, ...sealed.subarray(1)) })).toBe('MALFORMED')
  expect(await reasonOf({ sealed: sealed.subarray(0, 29) })).toBe('MALFORMED')
  expect(await reasonOf({ frame: { ...frame, type: 'call_back' } })).toBe('MALFORMED')
  for (const [offMs, reason] of [
    [60_001, 'STALE'],
    [-60_001, 'STALE'],
    [60_000, 'ok'],
    [-60_000, 'ok'],
  ] as const)
    expect(await reasonOf({ nowMs: NOW + offMs })).toBe(reason)
  const seenNonces = new SeenCallNonces()
  const first = await open({ seenNonces })
  if (first.ok) seenNonces.add(first.signal.nonce, NOW)
  expect(await reasonOf({ seenNonces })).toBe('REPLAYED')
  const nested = { a: JSON.parse(`${'['.repeat(31)}1${']'.repeat(31)}`) }
  const deep = await sealSecretSignal({ ...offer, fields: nested })
  expect(await reasonOf({ sealed: deep })).toBe('ok')
})

test('what breaks a rule is not sealed', async () => {
  const seal = (changed: object) => () => sealSecretSignal({ ...offer, ...changed })
  for (const changed of [
    { type: 'call_back' },
    { from: '' },
    { callId: '' },
    { conversationId: '' },
    { epoch: -1 },
    { callEpoch: 1.5 },
    { nowMs: Number.NaN },
    { fields: { type: 'x' } },
    { fields: { a: 1n } },
    { fields: { a: JSON.parse(`${'['.repeat(40)}${']'.repeat(40)}`) } },
    { randomBytes: fixedBytes('00') },
  ])
    expect([changed, await codeOf(seal(changed))]).toEqual([changed, 'INVALID_ARGUMENT'])
  await expectCode('INVALID_KEY', seal({ epochSecret: new Uint8Array(31) }))
  await expectCode('INVALID_KEY', seal({ sender: { ...place.sender, x25519: new Uint8Array(31) } }))
})

test('the length of a signal says little about its fields', async () => {
  const lengths = new Set<number>()
  for (let length = 700; length < 720; length += 1)
    lengths.add((await sealSecretSignal({ ...offer, fields: { sdp: 'x'.repeat(length) } })).length)
  expect(lengths.size).toBeLessThan(3)
  const plain = new Uint8Array(8 + 1 + 2 + JSON.stringify({ sdp: 'x'.repeat(700) }).length)
  expect(lengths.has(2 + 12 + pad(plain).length + 16)).toBe(true)
})

test('two signals with the same fields share no nonce and no ciphertext', async () => {
  const other = await sealSecretSignal(offer)
  expect(bytesToHex(other.subarray(2))).not.toBe(bytesToHex(sealed.subarray(2)))
})

test('each sender, call, conversation and epoch has media keys of its own', async () => {
  const places: CallKeyPlace[] = [
    place,
    { ...place, sender: accountKeys(1) },
    { ...place, callId: 'call-2' },
    { ...place, conversationId: 'conv-2' },
    { ...place, epoch: 8 },
    { ...place, epochSecret: new Uint8Array(32).fill(6) },
  ]
  const secrets = await Promise.all(places.map(deriveMediaSecret))
  const keys = await Promise.all(
    secrets.map((sessionKey) =>
      deriveCallMediaKey({ sessionKey, callId: 'call-1', senderAlias: 'u00000001', mid: '0', epoch: 1 }),
    ),
  )
  expect(new Set([...secrets, ...keys].map(bytesToHex)).size).toBe(2 * places.length)
})
