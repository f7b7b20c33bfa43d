import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { accountKeys, anyBytes, codeOf, expectCode, flipBit, identity } from '../test/expectations.ts'
import { ByteWriter } from './byte-record.ts'
import { concatBytes } from './bytes.ts'
import {
  type ExpectedLeaf,
  LEAF_CERTIFICATE_FUTURE_MS,
  MAX_LEAF_CERTIFICATE_BYTES,
  readLeafCertificate,
  signLeafCertificate,
  verifyLeafCertificate,
} from './leaf-certificate.ts'
import { sign } from './signature.ts'

const NOW = 1_800_000_000_000
const { privateKey } = identity(0).signing
const says = {
  relay: 'relay.example:8443',
  device: '00112233445566778899aabbccddeeff',
  account: accountKeys(0),
  signaturePublicKey: identity(1).signing.publicKey,
  time: NOW,
}
const expected: ExpectedLeaf = {
  relay: says.relay,
  account: says.account,
  signaturePublicKey: says.signaturePublicKey,
  now: NOW,
}
const certificate = await signLeafCertificate({ ...says, privateKey })

test('a certificate says what was signed, and verifies', async () => {
  expect(readLeafCertificate(certificate)).toEqual(says)
  expect(await verifyLeafCertificate(certificate, expected)).toBe(true)
  expect(await signLeafCertificate({ ...says, privateKey })).toEqual(certificate)
})

test('a certificate of anything else does not verify', async () => {
  const [one, other] = [accountKeys(0), accountKeys(1)]
  for (const wrong of [
    { relay: 'relay.example' },
    { account: other },
    { account: { ...one, x25519: other.x25519 } },
    // What a relay that swaps only the Ed25519 key has.
    { account: { ...one, ed25519: other.ed25519 } },
    { signaturePublicKey: one.ed25519 },
  ])
    expect([wrong, await verifyLeafCertificate(certificate, { ...expected, ...wrong })]).toEqual([
      wrong,
      false,
    ])
})

test('a certificate that another key has signed does not verify', async () => {
  const forged = await signLeafCertificate({ ...says, privateKey: identity(1).signing.privateKey })
  expect(await verifyLeafCertificate(forged, expected)).toBe(false)
  // The signature over the same bytes without the label.
  const body = certificate.subarray(0, -64)
  const unlabelled = concatBytes(body, await sign(privateKey, body))
  expect(readLeafCertificate(unlabelled)).toEqual(says)
  expect(await verifyLeafCertificate(unlabelled, expected)).toBe(false)
})

test('a certificate may be old, and from the future only as far as clocks differ', async () => {
  for (const [now, isValid] of [
    [NOW + 10 * 365 * 86_400_000, true],
    [NOW - LEAF_CERTIFICATE_FUTURE_MS, true],
    [NOW - LEAF_CERTIFICATE_FUTURE_MS - 1, false],
  ] as const)
    expect(await verifyLeafCertificate(certificate, { ...expected, now })).toBe(isValid)
})

test('a certificate with any flipped bit, any missing byte or a byte more does not verify', async () => {
  for (let bit = 0; bit < certificate.length * 8; bit += 1)
    expect(await verifyLeafCertificate(flipBit(certificate, bit), expected)).toBe(false)
  for (let length = 0; length < certificate.length; length += 1)
    await expectCode('INVALID_ENCODING', () => readLeafCertificate(certificate.subarray(0, length)))
  await expectCode('INVALID_ENCODING', () => readLeafCertificate(Uint8Array.of(...certificate, 0)))
})

test('what no version signs is refused', async () => {
  const written = (format: number, relay: string, time: number): Uint8Array => {
    const { x25519, ed25519 } = says.account
    const writer = new ByteWriter().number(format).text(relay).fixed(new Uint8Array(16))
    return writer.fixed(x25519).fixed(ed25519).fixed(x25519).u64(time).fixed(new Uint8Array(64)).done()
  }
  expect(readLeafCertificate(written(1, 'r', 8.64e15)).time).toBe(8.64e15)
  expect(readLeafCertificate(written(1, 'r'.repeat(255), 0)).relay.length).toBe(255)
  for (const [format, relay, time] of [
    [0, 'r', 0],
    [2, 'r', 0],
    [1, '', 0],
    [1, 'a b', 0],
    [1, 'é', 0],
    [1, 'r'.repeat(256), 0],
    [1, 'r', 8.64e15 + 1],
  ] as const)
    await expectCode('INVALID_ENCODING', () => readLeafCertificate(written(format, relay, time)))
  await expectCode('INVALID_ENCODING', () =>
    readLeafCertificate(new Uint8Array(MAX_LEAF_CERTIFICATE_BYTES + 1)),
  )
  await expectCode('INVALID_ENCODING', () => readLeafCertificate('text' as never))
})

test('any bytes are refused as such, and never verify', async () => {
  await fc.assert(
    fc.asyncProperty(anyBytes(600), async (bytes) => {
      expect(await codeOf(() => readLeafCertificate(bytes))).toBe('INVALID_ENCODING')
      expect(await verifyLeafCertificate(bytes, expected)).toBe(false)
    }),
  )
})

test('what cannot be certified is refused', async () => {
  for (const wrong of [
    { relay: '' },
    { relay: 'a b' },
    { device: says.device.toUpperCase() },
    { device: says.device.slice(2) },
    { time: -1 },
    { time: 0.5 },
    { time: 8.64e15 + 1 },
  ])
    expect([wrong, await codeOf(() => signLeafCertificate({ ...says, privateKey, ...wrong }))]).toEqual([
      wrong,
      'INVALID_ARGUMENT',
    ])
  const short = new Uint8Array(31)
  for (const wrong of [{ signaturePublicKey: short }, { account: { ...says.account, x25519: short } }])
    await expectCode('INVALID_KEY', () => signLeafCertificate({ ...says, privateKey, ...wrong }))
  await expectCode('INVALID_KEY', () =>
    verifyLeafCertificate(certificate, { ...expected, signaturePublicKey: short }),
  )
  await expectCode('INVALID_ARGUMENT', () =>
    verifyLeafCertificate(certificate, { ...expected, now: Number.NaN }),
  )
})
