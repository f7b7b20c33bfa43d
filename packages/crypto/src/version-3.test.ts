// The vectors of version 3, and the document that describes it to a reviewer.
import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import vectors from '../../../vectors/secrecy.json'
import { accountKeys, expectCode, fixedBytes, identity } from '../test/expectations.ts'
import { ByteWriter } from './byte-record.ts'
import { deriveCallMediaKey } from './call-media.ts'
import { SeenCallNonces } from './call-signal.ts'
import { MAX_UNKNOWN_MEMBERS } from './content-members.ts'
import { openFileChunk, sealFileChunk } from './file-key.ts'
import { bytesToHex, hexToBytes } from './hex.ts'
import { MAX_SECRET_CONTENT_BYTES } from './secret-kinds.ts'
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

  /** The numbers of a section, by name. */
  const numbersOf = (heading: string): Map<string, number> => {
    const section = text.split(`**${heading}.**`)[1]?.split('\n\n')[0] ?? ''
    return new Map(
      Array.from(section.matchAll(/(\d+) `(\w+)`/g), ([, number, name = '']) => [name, Number(number)]),
    )
  }
  /** The cells of the table with this first line. */
  const tableOf = (head: string): string[][] => {
    const rows = text.split(`${head}\n|---|---|---|\n`)[1]?.split('\n\n')[0]?.split('\n') ?? []
    return rows.map((row) => row.split('|').slice(1))
  }
  const namesIn = (cell = ''): string[] => found(cell, /`(\w+)`/g)
  const kindNumbers = numbersOf('Kinds of content')
  const memberNumbers = numbersOf('Members of content')
  const kinds = new Map(
    tableOf('| kind | must have | may have |').map(([kind, must, may]) => {
      return [namesIn(kind).join(), { must: namesIn(must), may: namesIn(may) }] as const
    }),
  )

  const file = `016d${'07'.repeat(32)}01`
  const jpeg = 'ffd8ffc000110801400001'
  /** A value of each member, in hexadecimal. */
  const samples: Record<string, string> = {
    ...{ text: '61', replyToId: '61', messageId: '61', reaction: '61', at: '01', mediaKey: '61' },
    ...{ fileKey: '61'.repeat(32), sizeBytes: '01', isImage: '', name: '61', dimensions: '0101' },
    ...{ previewFile: file, previewInside: jpeg, durationMs: '01', waveform: '61', picture: file, isOwn: '' },
  }
  /** Decodes a content with these members, which have the values of `samples`, but for the given ones. */
  const decode = (kind: string, names: readonly string[], values: Record<string, string> = {}) => {
    const writer = new ByteWriter().number(1).number(kindNumbers.get(kind) ?? 0)
    for (const [name, number] of memberNumbers)
      if (names.includes(name)) writer.number(number).bytes(hexToBytes(values[name] ?? samples[name] ?? ''))
    return decodeSecretContent(writer.done())
  }

  test('says which members each kind must and may have', async () => {
    expect([...kinds.keys()]).toEqual([...kindNumbers.keys()])
    for (const [kind, { must, may }] of kinds) {
      expect<string>(decode(kind, must).kind).toBe(kind)
      for (const name of must) {
        const others = must.filter((each) => each !== name)
        await expectCode('INVALID_ENCODING', () => decode(kind, others))
      }
      for (const [name, number] of memberNumbers) {
        if (must.includes(name)) continue
        const content = decode(kind, [...must, name])
        const unknown = 'unknown' in content ? content.unknown : undefined
        const isKnown = may.includes(name)
        const kept = isKnown ? undefined : [{ number, value: hexToBytes(samples[name] ?? '') }]
        expect({ kind, name, unknown }).toEqual({ kind, name, unknown: kept })
      }
    }
    const { must = [], may = [] } = kinds.get('attachment') ?? {}
    await expectCode('INVALID_ENCODING', () => decode('attachment', [...must, ...may]))
  })

  test('gives the bounds of the value of every member', async () => {
    const n = (...numbers: number[]): string => {
      const writer = new ByteWriter()
      for (const each of numbers) writer.number(each)
      return bytesToHex(writer.done())
    }
    const filled = (...lengths: number[]): string[] => lengths.map((length) => '61'.repeat(length))
    const long = (mediaKey: string): string =>
      `${n(mediaKey.length)}${'61'.repeat(mediaKey.length)}${file.slice(4)}`
    const whole = { good: ['00', n(2 ** 53 - 1)], bad: ['', '8000', '8080808080808010', '0000'] }
    const files = {
      good: [long('a'), long('a'.repeat(256))],
      bad: [long(''), long('a'.repeat(257)), `${file}00`],
    }
    const id = { good: [...filled(1, 128), '217e'], bad: ['', ...filled(129), '20', '7f', 'c3a9'] }
    const flag = { good: [''], bad: ['00', '01'] }
    // What the row of a member says, with values at its bounds and beyond them.
    const bounds: Record<string, { says: string; good: string[]; bad: string[] }> = {
      text: { says: 'UTF-8, 0 to 43,000 bytes', good: filled(0, 43_000), bad: [...filled(43_001), 'c328'] },
      replyToId: { says: 'printable ASCII without a space, 1 to 128 bytes', ...id },
      messageId: { says: 'printable ASCII without a space, 1 to 128 bytes', ...id },
      reaction: { says: 'UTF-8, 1 to 64 bytes', good: filled(1, 64), bad: [...filled(0, 65), 'ff'] },
      at: {
        says: 'n, at most 8,640,000,000,000,000',
        good: ['00', n(8.64e15)],
        bad: [n(8.64e15 + 1), '0000'],
      },
      mediaKey: {
        says: 'letters, digits and `-._~` of ASCII, 1 to 256 bytes',
        good: [...filled(1, 256), '415a397e2d2e5f'],
        bad: [...filled(0, 257), '2f', '23', 'c3a9'],
      },
      fileKey: { says: '32 bytes', good: filled(32), bad: filled(31, 33) },
      sizeBytes: { says: 'n', ...whole },
      isImage: { says: '0 bytes', ...flag },
      name: { says: 'UTF-8, 1 to 512 bytes', good: filled(1, 512), bad: [...filled(0, 513), 'ff'] },
      dimensions: {
        says: 'n ‖ n, each from 1 to 65,535',
        good: [n(1, 65_535), n(65_535, 1)],
        bad: [n(0, 1), n(1, 0), n(65_536, 1), n(1, 65_536), n(1), n(1, 1, 1)],
      },
      previewFile: { says: 'text media key ‖ file key 32 ‖ n size, each as above', ...files },
      previewInside: {
        says: 'a JPEG (T.81), at most 16,384 bytes',
        good: [jpeg.padEnd(2 * 16_384, '0'), jpeg.replace('c0', 'c2'), jpeg.replace('ffc0', 'ffef0002ffc1')],
        bad: [
          ...[
            '',
            jpeg.padEnd(2 * 16_385, '0'),
            jpeg.replace('c0', 'c3'),
            jpeg.replace('ffc0', 'ffd00002ffc0'),
          ],
          ...[jpeg.replace('0140', '0141'), jpeg.replace(/0001$/, '0000'), jpeg.replace(/0001$/, '0141')],
        ],
      },
      durationMs: { says: 'n', ...whole },
      waveform: {
        says: 'one byte for each sample, from 0 to 100; 1 to 64 bytes',
        good: [...filled(1, 64), '0064'],
        bad: [...filled(0, 65), '65'],
      },
      picture: { says: 'as `previewFile`', ...files },
      isOwn: { says: '0 bytes', ...flag },
    }
    const rows = tableOf('| member | value | what it says |').map(([name, value = '']) => [
      namesIn(name).join(),
      value.trim(),
    ])
    expect(rows).toEqual(Object.entries(bounds).map(([name, { says }]) => [name, says]))
    expect(rows.map(([name]) => name)).toEqual([...memberNumbers.keys()])
    for (const [name, { good, bad }] of Object.entries(bounds))
      for (const [kind, { must, may }] of kinds) {
        if (![...must, ...may].includes(name)) continue
        for (const hex of good) expect<string>(decode(kind, [...must, name], { [name]: hex }).kind).toBe(kind)
        for (const hex of bad)
          await expectCode('INVALID_ENCODING', () => decode(kind, [...must, name], { [name]: hex }))
      }
  })

  test('gives the bounds of a content', async () => {
    expect(text).toContain(`At most ${MAX_SECRET_CONTENT_BYTES.toLocaleString('en-US')} bytes`)
    expect(text.replaceAll(/\s+/g, ' ')).toContain(`at most ${MAX_UNKNOWN_MEMBERS} members`)
  })
})
