import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  anyString,
  expectCode,
  flipBit,
  identity,
  randomBytes,
  sessionKey,
  vectors,
} from '../test/expectations.ts'
import { decodeBase64, encodeBase64 } from './base64.ts'
import {
  CALL_NONCE_MEMORY_MS,
  type CallSignalFields,
  type CallSignalFrame,
  canonicalCallSignal,
  type OpenCallSignalInput,
  openCallSignal,
  SeenCallNonces,
  sealCallSignal,
  signCallSignal,
  verifyCallSignal,
} from './call-signal.ts'
import { decryptMessage, encryptMessage } from './message-envelope.ts'

const { inner, canonical, sig_hex, signed_by } = vectors.call_signal_v2
const { signing } = identity(signed_by)
const stranger = identity(2).signing
const NOW = inner._ts

const offer = {
  type: 'call_offer',
  to: 'u00000002',
  from: 'u00000001',
  callId: inner.call_id,
  fields: { sdp: 'v=0\r\n', sdp_type: 'offer' },
  sessionKey,
  signingPrivateKey: signing.privateKey,
  nowMs: NOW,
  randomBytes,
} as const

function open(frame: CallSignalFrame, changed: Partial<OpenCallSignalInput> = {}) {
  return openCallSignal({
    frame,
    sessionKey,
    signingPublicKey: signing.publicKey,
    nowMs: NOW,
    seenNonces: new SeenCallNonces(),
    ...changed,
  })
}

/** A frame whose inner object is exactly this one, signed. */
async function frameOf(signed: CallSignalFields): Promise<CallSignalFrame> {
  const plaintext = JSON.stringify({ ...signed, _sig: await signCallSignal(signing.privateKey, signed) })
  const payload = await encryptMessage({ sessionKey, plaintext, randomBytes })
  return {
    type: 'call_offer',
    to: 'u00000002',
    call_id: inner.call_id,
    from: inner.from,
    crypto_v: 2,
    payload,
  }
}

test('the canonical text and the signature equal the vectors', async () => {
  expect(canonicalCallSignal(inner)).toBe(canonical)
  expect(canonicalCallSignal({ ...inner, _sig: sig_hex })).toBe(canonical)
  expect(await signCallSignal(signing.privateKey, inner)).toBe(sig_hex)
  expect(await verifyCallSignal(signing.publicKey, { ...inner, _sig: sig_hex })).toBe(true)
  expect(await verifyCallSignal(stranger.publicKey, { ...inner, _sig: sig_hex })).toBe(false)
})

test('the key list also filters nested objects, as published clients do when they sign', () => {
  const nested = { b: { z: 1, a: 2 }, a: [{ b: 3, c: 4 }], _sig: '00' }
  expect(canonicalCallSignal(nested)).toBe('{"a":[{"b":3}],"b":{"a":2}}')
})

test('a sealed signal opens to the same signal', async () => {
  const frame = await sealCallSignal(offer)
  expect(frame).toMatchObject({
    type: 'call_offer',
    to: 'u00000002',
    from: 'u00000001',
    call_id: inner.call_id,
    crypto_v: 2,
  })
  expect(Object.keys(frame).sort()).toEqual(['call_id', 'crypto_v', 'from', 'payload', 'to', 'type'])

  const opened = await open(frame)
  expect(opened).toMatchObject({
    ok: true,
    signal: {
      type: 'call_offer',
      from: 'u00000001',
      callId: inner.call_id,
      sentAtMs: NOW,
      fields: offer.fields,
    },
  })
  const sealed: unknown = JSON.parse(await decryptMessage({ sessionKey, payload: frame.payload }))
  expect(sealed).toMatchObject({ ...offer.fields, type: 'call_offer', call_id: inner.call_id, _ts: NOW })
})

test('the fields can contain any JSON', async () => {
  const name = fc
    .string()
    .filter((key) => !['type', 'call_id', 'from', '_ts', '_nonce', '_sig', '__proto__'].includes(key))
  await fc.assert(
    fc.asyncProperty(fc.dictionary(name, fc.jsonValue({ maxDepth: 5 })), async (fields) => {
      const opened = await open(await sealCallSignal({ ...offer, fields }))
      expect(opened.ok && JSON.stringify(opened.signal.fields)).toBe(
        JSON.stringify(JSON.parse(JSON.stringify(fields))),
      )
    }),
    { numRuns: 50 },
  )
})

test('values that JSON omits are removed before signing, so that both sides check the same text', async () => {
  const fields = { sdp: 'v=0', missing: undefined, nested: { missing: 1, sdp: 2 } }
  expect(await open(await sealCallSignal({ ...offer, fields }))).toMatchObject({ ok: true })
})

test('sealing refuses reserved fields, values without JSON, and invalid keys and times', async () => {
  const cycle: Record<string, unknown> = {}
  cycle.self = cycle
  for (const fields of [{ from: 'x' }, { _sig: '' }, { type: 'offer' }, { n: 1n }, cycle]) {
    await expectCode('INVALID_ARGUMENT', () => sealCallSignal({ ...offer, fields }))
  }
  await expectCode('INVALID_KEY', () => sealCallSignal({ ...offer, sessionKey: new Uint8Array(16) }))
  await expectCode('INVALID_KEY', () => sealCallSignal({ ...offer, signingPrivateKey: new Uint8Array(16) }))
  await expectCode('INVALID_ARGUMENT', () => sealCallSignal({ ...offer, nowMs: Number.NaN }))
})

describe('a receiver drops', async () => {
  const frame = await sealCallSignal(offer)

  test('another crypto_v', async () => {
    expect(await open(frame, { frame: { ...frame, crypto_v: 1 } })).toEqual({
      ok: false,
      reason: 'WRONG_VERSION',
    })
  })

  test('a payload with any flipped bit', async () => {
    const bytes = decodeBase64(frame.payload)
    await fc.assert(
      fc.asyncProperty(fc.nat(), async (bit) => {
        const payload = encodeBase64(flipBit(bytes, bit))
        expect(await open({ ...frame, payload })).toEqual({ ok: false, reason: 'DECRYPTION_FAILED' })
      }),
    )
  })

  test('a signature of another account, even one that knows the session key', async () => {
    expect(await open(await sealCallSignal({ ...offer, signingPrivateKey: stranger.privateKey }))).toEqual({
      ok: false,
      reason: 'BAD_SIGNATURE',
    })
  })

  test('its own signal, sent back by the relay', async () => {
    expect(await open(frame, { signingPublicKey: identity(1).signing.publicKey })).toEqual({
      ok: false,
      reason: 'BAD_SIGNATURE',
    })
  })

  test('a field changed after signing, by someone with the session key', async () => {
    const plaintext = (await decryptMessage({ sessionKey, payload: frame.payload })).replace('v=0', 'v=1')
    const payload = await encryptMessage({ sessionKey, plaintext, randomBytes })
    expect(await open({ ...frame, payload })).toEqual({ ok: false, reason: 'BAD_SIGNATURE' })
  })

  test('an outer type, from or call_id that differs from the inner one', async () => {
    for (const changed of [{ type: 'call_hangup' }, { from: 'u00000009' }, { call_id: 'other' }] as const) {
      expect(await open({ ...frame, ...changed })).toEqual({ ok: false, reason: 'MISMATCH' })
    }
  })

  test('a _ts more than 60 s in the past or in the future', async () => {
    for (const offMs of [-60_000, 0, 60_000])
      expect((await open(frame, { nowMs: NOW + offMs })).ok).toBe(true)
    for (const offMs of [-60_001, 60_001, Number.NaN]) {
      expect(await open(frame, { nowMs: NOW + offMs })).toEqual({ ok: false, reason: 'STALE' })
    }
  })

  test('a nonce seen in the last five minutes', async () => {
    const seenNonces = new SeenCallNonces()
    const first = await open(frame, { seenNonces })
    if (!first.ok) throw new Error(first.reason)
    seenNonces.add(first.signal.nonce, NOW)
    expect(await open(frame, { seenNonces, nowMs: NOW + 30_000 })).toEqual({ ok: false, reason: 'REPLAYED' })
    expect((await open(await sealCallSignal(offer), { seenNonces })).ok).toBe(true)
  })

  test('signed objects that are not signals', async () => {
    const malformed: CallSignalFields[] = [
      {},
      { ...inner, type: 'msg' },
      { ...inner, call_id: 7 },
      { ...inner, from: null },
      { ...inner, _ts: String(NOW) },
      { ...inner, _nonce: 'short' },
    ]
    for (const object of malformed)
      expect(await open(await frameOf(object))).toEqual({ ok: false, reason: 'MALFORMED' })
    expect((await open(await frameOf(inner))).ok).toBe(true)
  })

  test('any other plaintext that decrypts', async () => {
    const plaintexts = fc.oneof(
      anyString(),
      fc.json(),
      fc.constant('{"_sig":"zz"}'),
      fc.constant(`{"_sig":"${sig_hex}"}`),
    )
    await fc.assert(
      fc.asyncProperty(plaintexts, async (plaintext) => {
        const payload = await encryptMessage({ sessionKey, plaintext, randomBytes })
        expect((await open({ ...frame, payload })).ok).toBe(false)
      }),
    )
  })
})

test('deep nesting is dropped before it is serialized, because engines need quadratic time for that', async () => {
  const plaintext = `{"a":${'['.repeat(50_000)}${']'.repeat(50_000)},"_sig":"${sig_hex}"}`
  const payload = await encryptMessage({ sessionKey, plaintext, randomBytes })
  expect(await open({ ...(await sealCallSignal(offer)), payload })).toEqual({
    ok: false,
    reason: 'MALFORMED',
  })
})

test('nonces are remembered for five minutes and then forgotten', () => {
  const seen = new SeenCallNonces()
  seen.add('a', 0)
  seen.add('b', 1000)
  expect(seen.has('a', CALL_NONCE_MEMORY_MS)).toBe(true)
  expect(seen.has('a', CALL_NONCE_MEMORY_MS + 1)).toBe(false)
  seen.add('c', CALL_NONCE_MEMORY_MS + 500)
  expect(seen.size).toBe(2)
  expect(seen.has('b', CALL_NONCE_MEMORY_MS + 1000)).toBe(true)
})
