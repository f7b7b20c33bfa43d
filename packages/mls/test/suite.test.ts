// The cipher suite: X-Wing on its own vectors, the whole against an independent composition, and the
// primitives on Wycheproof's vectors.
import { describe, expect, test } from 'bun:test'
import { hkdf } from '@noble/hashes/hkdf.js'
import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { chooseMlKem } from '@sotto/crypto/ml-kem'
import { choosePrimitives, type Primitives } from '@sotto/crypto/primitives'
import { compareMlKem } from '../../crypto/test/compare-ml-kem.ts'
import { ml_kem768, ml_kem768_x25519 } from '../../crypto/test/noble-hybrid.ts'
import { failureOf } from '../../protocol/test/failure-of.ts'
import { makeSuite } from '../src/suite.ts'
import { derivePrivateKey, XWing } from '../src/x-wing.ts'
import { composed, openAes, sealAes } from './compose-hpke.ts'
import { computeXWing, type XWingVector } from './compute-x-wing.ts'
import { hex, readVectors, toHex } from './vectors.ts'

const random = (length: number) => crypto.getRandomValues(new Uint8Array(length))
const [web, noblePrimitives] = await Promise.all(
  [crypto.subtle, undefined].map((subtle) => choosePrimitives(subtle)),
)
if (web === undefined || noblePrimitives === undefined) throw new Error('no primitives')
const webMlKem = await chooseMlKem(crypto.subtle)
const nobleMlKem = await chooseMlKem(undefined)
const utf8 = (text: string) => new TextEncoder().encode(text)
const join = (...parts: Uint8Array[]) => new Uint8Array(Buffer.concat(parts))

test("X-Wing's own vectors", async () => {
  const vectors = await readVectors<XWingVector[]>('x-wing')
  for (const { seed, eseed, ss, pk, ct } of vectors) {
    const coins = hex(eseed)
    const mlKem = {
      ...nobleMlKem,
      async encapsulate(publicKey: Uint8Array) {
        const { sharedSecret, cipherText } = ml_kem768.encapsulate(publicKey, coins.slice(0, 32))
        return { sharedSecret: new Uint8Array(sharedSecret), ciphertext: new Uint8Array(cipherText) }
      },
    }
    const kem = new XWing({ primitives: noblePrimitives, mlKem, randomBytes: () => coins.slice(32) })
    expect(toHex(await kem.publicKey(hex(seed)))).toBe(pk)
    const { secret, ciphertext } = await kem.encapsulate(hex(pk))
    expect([toHex(secret), toHex(ciphertext)]).toEqual([ss, ct])
  }
  for (const parts of [
    { primitives: noblePrimitives, mlKem: nobleMlKem },
    { primitives: web, mlKem: webMlKem },
  ])
    expect(await computeXWing({ ...parts, randomBytes: random }, vectors)).toEqual(
      vectors.map(({ pk, ss }) => ({ pk, ss })),
    )
})

test("the platform's ML-KEM and noble's agree on random inputs, also on altered ciphertexts", async () => {
  expect([webMlKem.implementation, nobleMlKem.implementation]).toEqual(['web', 'noble'])
  expect([web.implementation, noblePrimitives.implementation]).toEqual(['web', 'noble'])
  await compareMlKem(webMlKem, nobleMlKem, 100)
})

for (const [name, suite] of [
  ['noble', makeSuite(noblePrimitives, nobleMlKem)],
  ['the platform', makeSuite(web, webMlKem)],
] as const) {
  test(`the whole suite by ${name} agrees with noble's X-Wing and the formulas of RFC 9180`, async () => {
    for (let round = 0; round < 5; round++) {
      const [material, info, aad, plaintext] = [random(32), random(40), random(9), random(100)]
      const { privateKey, publicKey } = await suite.hpke.deriveKeyPair(material)
      const seed = await suite.hpke.exportPrivateKey(privateKey)
      expect(seed).toEqual(derivePrivateKey(material))
      expect(await suite.hpke.exportPublicKey(publicKey)).toEqual(
        new Uint8Array(ml_kem768_x25519.getPublicKey(seed)),
      )

      // Ours seals, the composition opens.
      const sealed = await suite.hpke.seal(publicKey, plaintext, info, aad)
      const keys = composed(ml_kem768_x25519.decapsulate(sealed.enc, seed), info)
      expect(openAes(keys, aad, sealed.ct)).toEqual(plaintext)

      // The composition seals, ours opens and exports.
      const { cipherText, sharedSecret } = ml_kem768_x25519.encapsulate(
        await suite.hpke.exportPublicKey(publicKey),
      )
      const theirs = composed(sharedSecret, info)
      const ciphertext = sealAes(theirs, aad, plaintext)
      expect(await suite.hpke.open(privateKey, cipherText, ciphertext, info, aad)).toEqual(plaintext)
      expect(await suite.hpke.importSecret(privateKey, utf8('context'), cipherText, 32, info)).toEqual(
        theirs.exported(utf8('context')),
      )
      ciphertext[0] = (ciphertext[0] ?? 0) ^ 1
      const refused = suite.hpke.open(privateKey, cipherText, ciphertext, info, aad)
      expect(await failureOf(refused)).toMatchObject({ name: 'MlsError', code: 'INVALID' })
    }
  })
}

interface Case extends Record<string, string | number | string[]> {
  tcId: number
  result: 'valid' | 'invalid' | 'acceptable'
  flags: string[]
}
type Groups = { tests: Case[]; publicKey?: { pk: string } }[]

describe('Wycheproof', async () => {
  const files = await readVectors<Record<string, Groups>>('wycheproof')
  const all = (file: string) =>
    (files[file] ?? []).flatMap((group) => group.tests.map((given) => ({ group, given })))
  const of = (given: Case, name: string) => hex(String(given[name]))
  const both: [string, Primitives][] = [
    ['noble', noblePrimitives],
    ['the platform', web],
  ]
  for (const [name, primitives] of both) {
    const suite = makeSuite(primitives, name === 'noble' ? nobleMlKem : webMlKem)

    test(`AES-256-GCM by ${name}`, async () => {
      expect(all('aes_gcm_test').length).toBeGreaterThan(20)
      for (const { given } of all('aes_gcm_test')) {
        const sealed = join(of(given, 'ct'), of(given, 'tag'))
        const opened = suite.hpke.decryptAead(of(given, 'key'), of(given, 'iv'), of(given, 'aad'), sealed)
        if (given.result === 'valid') {
          expect(toHex(await opened)).toBe(String(given.msg))
          const again = suite.hpke.encryptAead(
            of(given, 'key'),
            of(given, 'iv'),
            of(given, 'aad'),
            of(given, 'msg'),
          )
          expect(await again).toEqual(sealed)
        } else expect(await failureOf(opened)).toMatchObject({ code: 'INVALID' })
      }
    })

    test(`Ed25519 by ${name}`, async () => {
      expect(all('ed25519_test').length).toBeGreaterThan(100)
      for (const { group, given } of all('ed25519_test')) {
        const key = hex(group.publicKey?.pk ?? '')
        const isValid = await suite.signature.verify(key, of(given, 'msg'), of(given, 'sig'))
        expect([given.tcId, isValid]).toEqual([given.tcId, given.result === 'valid'])
      }
    })

    test(`X25519 by ${name}`, async () => {
      expect(all('x25519_test').length).toBeGreaterThan(400)
      for (const { given } of all('x25519_test')) {
        const shared = await primitives
          .x25519SharedSecret(of(given, 'private'), of(given, 'public'))
          .catch(() => new Uint8Array(32))
        expect([given.tcId, toHex(shared)]).toEqual([given.tcId, String(given.shared)])
      }
    })

    test(`ML-KEM-768 by ${name}`, async () => {
      const kem = name === 'noble' ? nobleMlKem : webMlKem
      for (const { given } of all('mlkem_768_test')) {
        const secret = kem.decapsulate(of(given, 'seed'), of(given, 'c'))
        if (given.result === 'valid') expect(toHex(await secret)).toBe(String(given.K))
        else expect(await failureOf(secret)).toMatchObject({ name: 'CryptoError' })
      }
      for (const { given } of all('mlkem_768_keygen_seed_test'))
        expect(toHex(await kem.publicKey(of(given, 'seed')))).toBe(String(given.ek))
      const refused = all('mlkem_768_encaps_test').filter(({ given }) => given.result === 'invalid')
      expect(refused.length).toBeGreaterThan(10)
      for (const { given } of refused)
        expect(await failureOf(kem.encapsulate(of(given, 'ek')))).toMatchObject({ code: 'INVALID_KEY' })
    })
  }

  test('HKDF-SHA256 and HMAC-SHA256', async () => {
    const suite = makeSuite(noblePrimitives, nobleMlKem)
    for (const { given } of all('hkdf_sha256_test').filter(({ given }) => given.result === 'valid')) {
      const length = Number(given.size)
      const key = await suite.kdf.extract(of(given, 'salt'), of(given, 'ikm'))
      expect(toHex(await suite.kdf.expand(key, of(given, 'info'), length))).toBe(String(given.okm))
      expect(hkdf(sha256, of(given, 'ikm'), of(given, 'salt'), of(given, 'info'), length)).toHaveLength(
        length,
      )
    }
    for (const { given } of all('hmac_sha256_test')) {
      const isValid = await suite.hash.verifyMac(of(given, 'key'), of(given, 'tag'), of(given, 'msg'))
      expect(isValid).toBe(given.result === 'valid')
      if (isValid) expect(toHex(hmac(sha256, of(given, 'key'), of(given, 'msg')))).toBe(String(given.tag))
    }
  })
})
