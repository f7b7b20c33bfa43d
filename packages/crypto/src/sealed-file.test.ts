import { expect, test } from 'bun:test'
import { expectCode } from '../test/expectations.ts'
import { bareMediaKey, isMediaKey } from './media-key.ts'
import { decodeContent, encodeContent } from './message-content.ts'
import { formatSealedFile, parseSealedFile } from './sealed-file.ts'

const file = { mediaKey: 'm_1.habc', fileKey: new Uint8Array(32).fill(0xab), sizeBytes: 70 }
const text = `m_1.habc#${'ab'.repeat(32)}.70`

test('a file and its key are one text, which is read back', () => {
  expect(formatSealedFile(file)).toBe(text)
  expect(parseSealedFile(text)).toEqual(file)
  expect(bareMediaKey(text)).toBe(file.mediaKey)
  expect([parseSealedFile('m_1'), bareMediaKey('m_1')]).toEqual([undefined, 'm_1'])
})

test('what is no file has no text, and what is no text of a file is refused', async () => {
  for (const wrong of [{ mediaKey: 'a#b' }, { sizeBytes: -1 }, { sizeBytes: 0.5 }, { sizeBytes: 1e15 }])
    expect(formatSealedFile({ ...file, ...wrong })).toBeUndefined()
  await expectCode('INVALID_KEY', () => formatSealedFile({ ...file, fileKey: new Uint8Array(31) }))
  for (const wrong of [
    '',
    '#',
    `${text} `,
    `${text}#`,
    text.replace('ab.', '.'),
    text.replace('.70', ''),
    text + text,
  ])
    await expectCode('INVALID_ARGUMENT', () => parseSealedFile(wrong))
})

test('nothing takes it for a media key, and version 1 neither writes nor reads it', async () => {
  expect(isMediaKey(text)).toBe(false)
  for (const content of [
    { kind: 'image', mediaKey: text },
    { kind: 'file', mediaKey: text, name: 'a', sizeBytes: 70 },
    { kind: 'voice', mediaKey: text, durationMs: 1 },
  ] as const)
    await expectCode('INVALID_ARGUMENT', () => encodeContent(content))
  for (const plaintext of [`[img]${text}`, JSON.stringify({ type: 'image', key: text })])
    expect(decodeContent(plaintext)).toEqual({ kind: 'text', text: plaintext })
})
