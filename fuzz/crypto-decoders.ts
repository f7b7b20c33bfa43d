// The decoders of the crypto package: encodings, contents, and everything that a peer can have sealed.
import {
  bytesToHex,
  ChunkReader,
  CryptoError,
  checkMediaDigest,
  decodeBase64,
  decodeBase64Url,
  decodeContent,
  decryptChunk,
  decryptMessage,
  deriveSigningKeyPair,
  encodeBase64,
  encodeBase64Url,
  encodeContent,
  encryptChunk,
  encryptMessage,
  formatSecurityCode,
  hexToBytes,
  isMediaKey,
  type MessageContent,
  openCallSignal,
  openValue,
  parseAuthChallenge,
  sealCallSignal,
  splitChunks,
  validateMnemonic,
  verifyAuthChallenge,
} from '@sotto/crypto'
import fc from 'fast-check'
import { decoder, expectSame, expectTrue, orRefused, orRefusedLater } from './decoder.ts'
import type { Draws } from './inputs.ts'
import { anyBytes, anyText, anyValue, heavyJson, mutated, mutatedBytes } from './values.ts'

const KEY = new Uint8Array(32).fill(7)
const MEDIA_KEY = `m_${'a'.repeat(22)}`
/** A JPEG of 8 × 8 pixels up to its frame header, as a data URL and as Base64 alone. */
const JPEG = encodeBase64(Uint8Array.from([0xff, 0xd8, 0xff, 0xc0, 0, 17, 8, 0, 8, 0, 8, 3]))
const THUMBNAILS = [`data:image/jpeg;base64,${JPEG}`, JPEG, 'data:image/svg+xml;base64,AAAA']
const NOW_MS = 1_800_000_000_000
const signing = deriveSigningKeyPair(new Uint8Array(64).fill(9))

/** Nonces and the like. They need not be secret here, but each must follow from the seed. */
const bytesFrom = (draws: Draws) => (length: number) => Uint8Array.from({ length }, () => draws.whole(0, 255))

function encoded(draws: Draws): string {
  const text = encodeBase64(draws.of(anyBytes))
  return draws.chance(0.5) ? text : mutated(text, draws)
}

const contentTexts = fc.oneof(
  fc.constantFrom(
    `[img]${MEDIA_KEY}`,
    `[file]${MEDIA_KEY}|a|b|12`,
    `[voice]${MEDIA_KEY}|5`,
    '{"text":"a","replyToId":"b"}',
  ),
  fc
    .record(
      {
        type: fc.constantFrom('image', 'file', 'voice', 'text'),
        key: fc.constant(MEDIA_KEY),
        text: anyText,
        name: anyText,
        size: fc.nat(),
        duration: fc.double(),
        width: fc.integer({ min: -1, max: 70_000 }),
        height: fc.integer({ min: -1, max: 70_000 }),
        thumbnail: fc.constantFrom(...THUMBNAILS),
        waveform: fc.array(fc.integer({ min: -1, max: 101 }), { maxLength: 66 }),
        replyToId: anyText,
      },
      { requiredKeys: [] },
    )
    .map((each) => JSON.stringify(each)),
  anyText,
)

export const cryptoDecoders = [
  decoder('base64', encoded, (text) => {
    const bytes = orRefused(CryptoError, () => decodeBase64(text))
    if (bytes) expectSame('Base64 has one text for some bytes', encodeBase64(bytes), text)
    const urlBytes = orRefused(CryptoError, () => decodeBase64Url(text))
    if (urlBytes) expectSame('Base64url has one text for some bytes', encodeBase64Url(urlBytes), text)
    const hexBytes = orRefused(CryptoError, () => hexToBytes(text))
    if (hexBytes) expectSame('hex has one text in lower case', bytesToHex(hexBytes), text.toLowerCase())
  }),
  decoder(
    'contents',
    (draws) => (draws.chance(0.5) ? draws.of(contentTexts) : mutated(draws.of(contentTexts), draws)),
    (text) => {
      const literal = decodeContent(encodeContent({ text }))
      expectSame('a typed text stays as it is', literal, { kind: 'text', text })
      const content: MessageContent = decodeContent(text)
      const again = decodeContent(encodeContent(content))
      expectSame('a content stays as it is', again, content)
    },
  ),
  decoder(
    'messages',
    (draws) => ({ text: draws.of(anyText), draws }),
    async ({ text, draws }) => {
      const payload = await encryptMessage({
        sessionKey: KEY,
        plaintext: text,
        randomBytes: bytesFrom(draws),
      })
      const open = (given: string) =>
        orRefusedLater(CryptoError, () => decryptMessage({ sessionKey: KEY, payload: given }))
      expectSame('what is encrypted is decrypted', await open(payload), text.toWellFormed())
      const changed = mutated(payload, draws)
      if (changed !== payload) expectSame('a changed payload is refused', await open(changed), undefined)
      expectSame(
        'a sealed value is refused',
        await orRefusedLater(CryptoError, () => openValue({ key: KEY, sealed: changed, context: 'x' })),
        undefined,
      )
    },
    2,
  ),
  decoder(
    'chunks',
    (draws) => ({ bytes: draws.of(anyBytes), draws }),
    async ({ bytes, draws }) => {
      const plaintexts = Array.from({ length: draws.whole(1, 3) }, () => draws.of(anyBytes))
      const chunks: Uint8Array[] = []
      for (const plaintext of plaintexts)
        chunks.push(await encryptChunk({ sessionKey: KEY, plaintext, randomBytes: bytesFrom(draws) }))
      const blob = Buffer.concat(chunks)
      const found = splitChunks(blob)
      expectSame('a blob has its chunks', found.map(bytesToHex), chunks.map(bytesToHex))
      for (const given of [bytes, mutatedBytes(blob, draws)]) {
        const reader = new ChunkReader()
        orRefused(CryptoError, () => {
          const piece = draws.whole(1, 60)
          for (let at = 0; at < given.length; at += piece) reader.push(given.subarray(at, at + piece))
          reader.end()
        })
        await orRefusedLater(CryptoError, () => decryptChunk({ sessionKey: KEY, chunk: given }))
      }
      expectTrue('a text is a media key or not', typeof isMediaKey(bytesToHex(bytes)) === 'boolean')
      await checkMediaDigest(`${MEDIA_KEY}.h${encodeBase64Url(bytes)}`, blob)
    },
    2,
  ),
  decoder(
    'call signals',
    (draws) => ({ fields: Object(draws.of(fc.dictionary(fc.string(), anyValue))), draws }),
    async ({ fields, draws }) => {
      const { privateKey, publicKey } = await signing
      const sealed = await orRefusedLater(CryptoError, () =>
        sealCallSignal({
          type: 'call_offer',
          to: 'bob',
          from: 'alice',
          callId: 'c',
          fields,
          sessionKey: KEY,
          signingPrivateKey: privateKey,
          nowMs: NOW_MS,
          randomBytes: bytesFrom(draws),
        }),
      )
      if (!sealed) return
      const given = {
        sessionKey: KEY,
        signingPublicKey: publicKey,
        nowMs: NOW_MS,
        seenNonces: { has: () => false },
      }
      const { ok } = await openCallSignal({ ...given, frame: sealed })
      expectTrue('a sealed signal opens', ok)
      const inner = draws.chance(0.3)
        ? draws.of(heavyJson)
        : mutated(await decryptMessage({ sessionKey: KEY, payload: sealed.payload }), draws)
      const payload = await encryptMessage({
        sessionKey: KEY,
        plaintext: inner,
        randomBytes: bytesFrom(draws),
      })
      await openCallSignal({ ...given, frame: { ...sealed, payload } })
    },
    1,
  ),
  decoder(
    'challenges',
    (draws) =>
      mutated(`relay-auth-v1:localhost:8080:7d2f6a54-3a1e-4e57-9a0b-0d6f1f0a9c55:${'A'.repeat(43)}`, draws),
    async (text) => {
      const parsed = parseAuthChallenge(text)
      if (parsed)
        expectSame(
          'a challenge has one text',
          `${parsed.version}:${parsed.host}:${parsed.uuid}:${parsed.nonce}`,
          text,
        )
      expectTrue('a wrong signature is false', !(await verifyAuthChallenge(KEY, text, text)))
      orRefused(CryptoError, () => formatSecurityCode(text))
      await validateMnemonic(text)
    },
    2,
  ),
]
