// One contract for both implementations: WebCrypto and noble give the same bytes and refuse the same inputs.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import aes from '../../../vectors/standards/aes-256-gcm.json'
import bip39 from '../../../vectors/standards/bip39.json'
import rfc5869 from '../../../vectors/standards/rfc5869.json'
import rfc7748 from '../../../vectors/standards/rfc7748.json'
import rfc8032 from '../../../vectors/standards/rfc8032.json'
import { failureOf } from '../../protocol/test/failure-of.ts'
import { anyBytes, flipBit, vectors } from '../test/expectations.ts'
import { concatBytes, encodeUtf8 } from './bytes.ts'
import { bytesToHex, hexToBytes } from './hex.ts'
import { noblePrimitives, noblePrimitivesWith } from './noble-primitives.ts'
import { choosePrimitives, loadPrimitives, withSecret } from './primitives.ts'
import type { Primitives } from './primitives-interface.ts'
import { webPrimitives } from './web-primitives.ts'

const web = webPrimitives(crypto.subtle)
const key32 = fc.uint8Array({ minLength: 32, maxLength: 32 })
const GROUP_ORDER = 2n ** 252n + 27742317777372353535851937790883648493n

test('AES-256-GCM of any length: noble alone, with the platform, and the platform give the same bytes', async () => {
  const all = [noblePrimitives, noblePrimitivesWith(web), web]
  const [key, nonce] = [new Uint8Array(32).fill(7), new Uint8Array(12).fill(9)]
  for (const length of [0, 1, 2031, 2032, 2047, 2048, 2049, 100_000]) {
    const data = Uint8Array.from({ length }, (_, at) => at % 251)
    const additionalData = encodeUtf8(`of ${length} bytes`)
    const [first = data, ...others] = await Promise.all(
      all.map((each) => each.encryptAesGcm({ key, nonce, data, additionalData })),
    )
    for (const other of others) expect(other).toEqual(first)
    for (const each of all) {
      expect(await each.decryptAesGcm({ key, nonce, data: first, additionalData })).toEqual(data)
      const altered = { key, nonce, data: flipBit(first, length * 4), additionalData }
      expect(await failureOf(each.decryptAesGcm(altered))).toBeInstanceOf(Error)
    }
  }
})

for (const primitives of [web, noblePrimitives]) {
  describe(`the primitives of ${primitives.implementation}`, () => {
    test('SHA-256: the examples of FIPS 180-4, from the empty text to a million characters', async () => {
      const examples = {
        '': 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
        abc: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
        abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq:
          '248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1',
        ['a'.repeat(1_000_000)]: 'cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0',
      }
      for (const [text, digest] of Object.entries(examples))
        expect(bytesToHex(await primitives.sha256(encodeUtf8(text)))).toBe(digest)
    })

    test('HMAC-SHA512 (RFC 4231, test case 2)', async () => {
      const mac = await primitives.hmacSha512(encodeUtf8('Jefe'), encodeUtf8('what do ya want for nothing?'))
      expect(bytesToHex(mac)).toBe(
        '164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea2505549758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737',
      )
    })

    test('PBKDF2-HMAC-SHA512: the seeds of BIP-39', async () => {
      const salt = encodeUtf8(`mnemonic${bip39.passphrase}`)
      for (const { mnemonic, seed } of bip39.vectors) {
        const password = encodeUtf8(mnemonic)
        expect(bytesToHex(await primitives.pbkdf2Sha512({ password, salt, iterations: 2048 }))).toBe(seed)
      }
    })

    test('HKDF-SHA256: RFC 5869, appendix A', async () => {
      for (const { ikm, salt, info, length, okm } of rfc5869.vectors) {
        const input = { secret: hexToBytes(ikm), salt: hexToBytes(salt), info: hexToBytes(info), length }
        expect(bytesToHex(await primitives.hkdfSha256(input))).toBe(okm)
      }
    })

    test('AES-256-GCM: the vectors of its authors, and altered input is refused', async () => {
      for (const vector of aes.vectors) {
        const [key, nonce] = [hexToBytes(vector.key), hexToBytes(vector.iv)]
        const additionalData = hexToBytes(vector.aad)
        const data = hexToBytes(vector.plaintext)
        const sealed = await primitives.encryptAesGcm({ key, nonce, data, additionalData })
        expect(bytesToHex(sealed)).toBe(vector.ciphertext + vector.tag)
        expect(bytesToHex(await primitives.decryptAesGcm({ key, nonce, data: sealed, additionalData }))).toBe(
          vector.plaintext,
        )
        const altered = [
          { key: flipBit(key, 0), nonce, data: sealed, additionalData },
          { key, nonce: flipBit(nonce, 95), data: sealed, additionalData },
          { key, nonce, data: flipBit(sealed, sealed.length * 8 - 1), additionalData },
          { key, nonce, data: sealed.subarray(1), additionalData },
          { key, nonce, data: sealed, additionalData: Uint8Array.of(...additionalData, 0) },
        ]
        for (const input of altered)
          expect(await failureOf(primitives.decryptAesGcm(input))).toBeInstanceOf(Error)
      }
    })

    test('Ed25519: RFC 8032, section 7.1', async () => {
      for (const { secret, public: publicKey, message, signature } of rfc8032.vectors) {
        const [key, bytes] = [hexToBytes(secret), hexToBytes(message)]
        expect(bytesToHex(await primitives.ed25519PublicKey(key))).toBe(publicKey)
        expect(bytesToHex(await primitives.signEd25519(key, bytes))).toBe(signature)
        const verify = (of: Uint8Array, by: Uint8Array): Promise<boolean> =>
          primitives.verifyEd25519(hexToBytes(publicKey), of, by)
        expect(await verify(bytes, hexToBytes(signature))).toBe(true)
        expect(await verify(concatBytes(bytes, Uint8Array.of(0)), hexToBytes(signature))).toBe(false)
        // S plus the group order (section 5.1.7).
        const s = BigInt(`0x${bytesToHex(hexToBytes(signature).subarray(32).toReversed())}`) + GROUP_ORDER
        const malleated = hexToBytes(s.toString(16).padStart(64, '0')).reverse()
        const rewritten = concatBytes(hexToBytes(signature).subarray(0, 32), malleated)
        expect(await verify(bytes, rewritten).catch(() => false)).toBe(false)
      }
    })

    test('X25519: RFC 7748', async () => {
      for (const { scalar, u, result } of rfc7748.multiplications)
        expect(bytesToHex(await primitives.x25519SharedSecret(hexToBytes(scalar), hexToBytes(u)))).toBe(
          result,
        )
      const { alice_private, alice_public } = rfc7748.diffie_hellman
      expect(bytesToHex(await primitives.x25519PublicKey(hexToBytes(alice_private)))).toBe(alice_public)
    })

    test('X25519: a public key of small order gives zeros or an error (RFC 7748, section 6.1)', async () => {
      for (const u of rfc7748.low_order) {
        const secret = await primitives
          .x25519SharedSecret(new Uint8Array(32).fill(7), hexToBytes(u))
          .catch(() => new Uint8Array(32))
        expect(secret).toEqual(new Uint8Array(32))
      }
    })

    test('the public keys equal the vectors', async () => {
      for (const identity of vectors.identities) {
        const [signing, agreement] = [identity.ed25519_private_hex, identity.x25519_private_hex].map(
          hexToBytes,
        )
        const publics = [
          await primitives.ed25519PublicKey(signing ?? new Uint8Array(0)),
          await primitives.x25519PublicKey(agreement ?? new Uint8Array(0)),
        ]
        expect(publics.map((bytes) => Buffer.from(bytes).toString('base64'))).toEqual([
          identity.ed25519_public_b64,
          identity.x25519_public_b64,
        ])
      }
    })

    test('bytes may be part of a larger buffer, a Buffer or shared memory', async () => {
      const shared = new Uint8Array(new SharedArrayBuffer(8)).subarray(2, 5)
      shared.set(encodeUtf8('abc'))
      const views = [encodeUtf8('xabcx').subarray(1, 4), Buffer.from('abc'), shared]
      const expected = await primitives.sha256(encodeUtf8('abc'))
      for (const view of views) expect(await primitives.sha256(view)).toEqual(expected)
    })
  })
}

test('WebCrypto and noble give the same results for any input', async () => {
  const same = async (of: (primitives: Primitives) => Promise<unknown>): Promise<void> =>
    expect(await of(web)).toEqual(await of(noblePrimitives))
  await fc.assert(
    fc.asyncProperty(key32, key32, anyBytes(), anyBytes(), async (key, other, data, info) => {
      const nonce = other.subarray(0, 12)
      await same((p) => p.sha256(data))
      await same((p) => p.hmacSha512(key, data))
      await same((p) => p.hkdfSha256({ secret: key, salt: other, info, length: 44 }))
      await same((p) => p.encryptAesGcm({ key, nonce, data, additionalData: info }))
      await same((p) => p.ed25519PublicKey(key))
      await same((p) => p.signEd25519(key, data))
      await same((p) => p.x25519PublicKey(key))
      await same((p) => p.x25519SharedSecret(key, other).catch(() => 'none'))
    }),
    { numRuns: 50 },
  )
})

describe('the implementation that runs is', () => {
  test('WebCrypto, if it has all algorithms', async () => {
    expect(await choosePrimitives(crypto.subtle)).toMatchObject({ implementation: 'web' })
  })

  test('noble, if there is no WebCrypto', async () => {
    expect(await choosePrimitives(undefined)).toBe(noblePrimitives)
  })

  for (const missing of ['Ed25519', 'X25519']) {
    test(`noble, if WebCrypto lacks ${missing}`, async () => {
      const subtle = new Proxy(crypto.subtle, {
        get: (target, name) =>
          name === 'importKey'
            ? async (...input: Parameters<SubtleCrypto['importKey']>) => {
                if (input[2] === missing) throw new DOMException('Unrecognized name.', 'NotSupportedError')
                return target.importKey(...input)
              }
            : Reflect.get(target, name).bind(target),
      })
      expect(await choosePrimitives(subtle)).toMatchObject({ implementation: 'noble' })
    })
  }

  test('noble, if WebCrypto refuses private keys that begin with a zero', async () => {
    const subtle = new Proxy(crypto.subtle, {
      get: (target, name) =>
        name === 'importKey'
          ? async (...input: Parameters<SubtleCrypto['importKey']>) => {
              const [format, key] = input
              if (format === 'pkcs8' && key instanceof Uint8Array && key[16] === 0)
                throw new DOMException(
                  'Data provided to an operation does not meet requirements',
                  'DataError',
                )
              return target.importKey(...input)
            }
          : Reflect.get(target, name).bind(target),
    })
    expect(await choosePrimitives(subtle)).toMatchObject({ implementation: 'noble' })
  })

  test('noble, in Bun and Node', async () => {
    expect(await loadPrimitives()).toBe('noble')
  })
})

test('noble leaves Ed25519 to the platform in Bun, and not in Node, which prints a warning', () => {
  const { signEd25519, verifyEd25519 } = web
  expect(noblePrimitivesWith(web)).toMatchObject({ signEd25519, verifyEd25519 })
  expect(noblePrimitivesWith(web, false).verifyEd25519).toBe(noblePrimitives.verifyEd25519)
  expect(noblePrimitivesWith(undefined)).toBe(noblePrimitives)
})

test('a secret is copied when the call is made, and the copy is overwritten afterwards', async () => {
  const secret = new Uint8Array(32).fill(7)
  let copy = new Uint8Array(0)
  const used = withSecret(secret, async (_, given) => {
    copy = given
    return bytesToHex(given)
  })
  secret.fill(0)
  expect(await used).toBe('07'.repeat(32))
  expect(copy).toEqual(new Uint8Array(32))
})
