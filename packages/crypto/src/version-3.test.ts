// The vectors of version 3, and the document that describes it to a reviewer.
import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import vectors from '../../../vectors/secrecy.json'
import { accountKeys, expectCode, fixedBytes, identity } from '../test/expectations.ts'
import { deriveCallMediaKey } from './call-media.ts'
import { SeenCallNonces } from './call-signal.ts'
import { openFileChunk, sealFileChunk } from './file-key.ts'
import { bytesToHex, hexToBytes } from './hex.ts'
import type { CallSignalType } from './signal-fields.ts'
import {
  decodeBinding,
  decodeSecretContent,
  deriveMediaSecret,
  deriveOuterKey,
  encodeBinding,
  encodeSecretContent,
  hashOfMessage,
  type OuterKind,
  openOuter,
  openSecretSignal,
  pad,
  readLeafCertificate,
  sealOuter,
  sealSecretSignal,
  signLeafCertificate,
  unpad,
  verifyLeafCertificate,
} from './version-3.ts'

const { conv_id: conversationId, a, b, outer_key_hex } = vectors.conversation
const key = hexToBytes(outer_key_hex)

describe('the vectors of version 3', () => {
  test('the outer key and handshakes', async () => {
    const { privateKey } = identity(a).agreement
    const theirPublicKey = identity(b).agreement.publicKey
    expect(bytesToHex(await deriveOuterKey({ privateKey, theirPublicKey, conversationId }))).toBe(
      outer_key_hex,
    )
    for (const { kind, epoch, sender, nonce_hex, plaintext_hex, sealed_hex } of vectors.handshakes) {
      const of = { key, conversationId, kind: kind as OuterKind, epoch, sender: accountKeys(sender) }
      const plaintext = hexToBytes(plaintext_hex)
      const randomBytes = fixedBytes(nonce_hex)
      expect(bytesToHex(await sealOuter({ ...of, plaintext, randomBytes }))).toBe(sealed_hex)
      expect(await openOuter({ ...of, sealed: hexToBytes(sealed_hex) })).toEqual(plaintext)
    }
    for (const { kind, epoch, sender, sealed_hex } of vectors.refused.handshakes) {
      const of = { key, conversationId, kind: kind as OuterKind, epoch, sender: accountKeys(sender) }
      await expectCode('DECRYPTION_FAILED', () => openOuter({ ...of, sealed: hexToBytes(sealed_hex) }))
    }
  })

  test('the leaf certificate', async () => {
    const { account, signature_public_key_hex, certificate_hex, relay, device, time } =
      vectors.leaf_certificate
    const signaturePublicKey = hexToBytes(signature_public_key_hex)
    const says = { relay, device, time, account: accountKeys(account), signaturePublicKey }
    const { privateKey } = identity(account).signing
    const certificate = hexToBytes(certificate_hex)
    expect(bytesToHex(await signLeafCertificate({ ...says, privateKey }))).toBe(certificate_hex)
    expect(readLeafCertificate(certificate)).toEqual(says)
    expect(await verifyLeafCertificate(certificate, { ...says, now: time })).toBe(true)
    for (const refused of vectors.refused.certificates)
      await expectCode('INVALID_ENCODING', () => readLeafCertificate(hexToBytes(refused.certificate_hex)))
  })

  test('hashes and bindings', async () => {
    for (const { message_hex, hash_hex } of vectors.hashes)
      expect(bytesToHex(await hashOfMessage(hexToBytes(message_hex)))).toBe(hash_hex)
    const contextOf = (messageId: string, sender: number, recipient: number) => {
      return { conversationId, messageId, sender: accountKeys(sender), recipient: accountKeys(recipient) }
    }
    for (const { message_id, sender, recipient, previous_hex, seen_hex, binding_hex } of vectors.bindings) {
      const context = contextOf(message_id, sender, recipient)
      const place = {
        ...(previous_hex === null ? {} : { previous: hexToBytes(previous_hex) }),
        ...(seen_hex === null ? {} : { seen: hexToBytes(seen_hex) }),
      }
      expect(bytesToHex(await encodeBinding({ ...context, ...place }))).toBe(binding_hex)
      expect(await decodeBinding(hexToBytes(binding_hex), context)).toEqual(place)
    }
    for (const { binding_hex } of vectors.refused.bindings)
      await expectCode('INVALID_ENCODING', () =>
        decodeBinding(hexToBytes(binding_hex), contextOf('m-1', a, b)),
      )
  })

  test('padding, contents and files', async () => {
    for (const { content_hex, padded_hex } of vectors.padded) {
      expect(bytesToHex(pad(hexToBytes(content_hex)))).toBe(padded_hex)
      expect(bytesToHex(unpad(hexToBytes(padded_hex)))).toBe(content_hex)
    }
    for (const { padded_hex } of vectors.refused.paddings)
      await expectCode('INVALID_ENCODING', () => unpad(hexToBytes(padded_hex)))
    const known = vectors.contents.map(({ kind, content_hex }) => [kind, content_hex] as const)
    const unknown = vectors.unknown_contents.map((content_hex) => ['unknown', content_hex] as const)
    for (const [kind, content_hex] of [...known, ...unknown]) {
      const content = decodeSecretContent(hexToBytes(content_hex))
      expect([String(content.kind), bytesToHex(encodeSecretContent(content))]).toEqual([kind, content_hex])
    }
    for (const { content_hex } of vectors.refused.contents)
      await expectCode('INVALID_ENCODING', () => decodeSecretContent(hexToBytes(content_hex)))
    for (const { key_hex, size_bytes, index, plaintext_hex, sealed_hex } of vectors.files) {
      const chunk = { key: hexToBytes(key_hex), sizeBytes: size_bytes, index }
      const plaintext = hexToBytes(plaintext_hex)
      expect(bytesToHex(await sealFileChunk({ ...chunk, plaintext }))).toBe(sealed_hex)
      expect(await openFileChunk({ ...chunk, sealed: hexToBytes(sealed_hex) })).toEqual(plaintext)
    }
  })

  test('the keys and signals of calls', async () => {
    const { call_id: callId, epoch, call_epoch: callEpoch, time: nowMs, epoch_secret_hex } = vectors.calls
    const of = { epochSecret: hexToBytes(epoch_secret_hex), conversationId }
    for (const { sender, secret_hex, alias, mid, key_epoch, key_hex } of vectors.calls.media) {
      const sessionKey = await deriveMediaSecret({ ...of, callId, epoch, sender: accountKeys(sender) })
      expect(bytesToHex(sessionKey)).toBe(secret_hex)
      const track = { callId, senderAlias: alias, mid, epoch: key_epoch }
      expect(bytesToHex(await deriveCallMediaKey({ sessionKey, ...track }))).toBe(key_hex)
    }
    const open = (received: { type: string; from: string; sender: number; payload_hex: string }) => {
      const { type, from, payload_hex } = received
      const frame = { type, from, call_id: callId }
      const sender = accountKeys(received.sender)
      const seenNonces = new SeenCallNonces()
      return openSecretSignal({ ...of, sender, frame, sealed: hexToBytes(payload_hex), nowMs, seenNonces })
    }
    for (const signal of vectors.calls.signals) {
      const { from, nonce_hex, fields, payload_hex } = signal
      const type = signal.type as CallSignalType
      const randomBytes = fixedBytes(nonce_hex)
      const place = { ...of, callId, epoch, sender: accountKeys(signal.sender) }
      const sealed = await sealSecretSignal({ ...place, type, from, callEpoch, fields, nowMs, randomBytes })
      expect(bytesToHex(sealed)).toBe(payload_hex)
      const opened = { type, callId, from, sentAtMs: nowMs, nonce: nonce_hex, callEpoch, fields }
      expect<unknown>(await open(signal)).toEqual({ ok: true, signal: opened })
    }
    for (const { reason, ...refused } of vectors.refused.signals)
      expect<unknown>(await open(refused)).toEqual({ ok: false, reason })
  })
})

describe('docs/cryptography.md', () => {
  const text = readFileSync(join(import.meta.dir, '../../../docs/cryptography.md'), 'utf8')
  const sources = readdirSync(import.meta.dir)
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map((name) => readFileSync(join(import.meta.dir, name), 'utf8'))
    .join('\n')
  const found = (of: string, pattern: RegExp): string[] =>
    Array.from(of.matchAll(pattern), ([, ...parts]) => parts.join(' ')).toSorted()

  test('names every label of the code, and no other', () => {
    const labels = /((?:sotto|securechat|call)-[a-z-]+-v\d)/g
    expect([...new Set(found(text, labels))]).toEqual([...new Set(found(sources, labels))])
  })

  test('gives the number of every handshake, content, member and call signal', () => {
    for (const [heading, name] of [
      ['Kinds of handshakes', 'const KINDS = { welcome'],
      ['Kinds of content', 'const KINDS = {\n'],
      ['Members of content', 'const MEMBERS = {'],
      ['Kinds of call signals', 'const SIGNALS = {'],
    ] as const) {
      const code = sources.slice(sources.indexOf(name)).split('}')[0] ?? ''
      const section = text.split(`**${heading}.**`)[1]?.split('\n\n')[0] ?? ''
      const numbers = found(section, /(\d+) `(\w+)`/g)
      expect(numbers.length).toBeGreaterThan(3)
      expect(numbers).toEqual(
        found(code, /(\w+): (\d+)/g)
          .map((each) => each.split(' ').reverse().join(' '))
          .toSorted(),
      )
    }
  })
})
