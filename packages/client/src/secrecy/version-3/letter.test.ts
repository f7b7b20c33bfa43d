// The letter around the content of a message: its vectors, and what a hostile contact may write.
import { expect, test } from 'bun:test'
import { bytesToHex, hexToBytes } from '@sotto/crypto'
import vectors from '../../../../../vectors/secrecy.json'
import { decodeLetter, encodeLetter, type Letter } from './letter.ts'

const LETTER: Letter = { kind: 'content', number: 1, seen: 0, deletes: [], body: Uint8Array.of(1) }

test('what a letter repeats is named by the id of a message, or it is no letter', () => {
  for (const resends of ['m', '~'.repeat(128), crypto.randomUUID()])
    expect(decodeLetter(encodeLetter({ ...LETTER, resends }))).toEqual({ ...LETTER, resends })
  for (const resends of ['', 'a b', 'ä', 'a\n', '~'.repeat(129)])
    expect(decodeLetter(encodeLetter({ ...LETTER, resends }))).toBeUndefined()
})

test('a letter deletes at most 128 numbers', () => {
  const deletes = Array.from({ length: 129 }, (_, i) => i + 1)
  const most: Letter = { ...LETTER, deletes: deletes.slice(1) }
  expect(decodeLetter(encodeLetter(most))).toEqual(most)
  expect(decodeLetter(encodeLetter({ ...most, deletes }))).toBeUndefined()
})

test('letters are written and read as in the vectors, which were composed without this code', () => {
  for (const { what, kind, resends, body_hex, plaintext_hex, ...counts } of vectors.letters) {
    const letter: Letter = {
      ...{ kind: kind as Letter['kind'], ...counts, body: hexToBytes(body_hex) },
      ...(resends === null ? {} : { resends }),
    }
    expect([what, bytesToHex(encodeLetter(letter))]).toEqual([what, plaintext_hex])
    expect([what, decodeLetter(hexToBytes(plaintext_hex))]).toEqual([what, letter])
  }
  for (const { why, plaintext_hex } of vectors.refused.letters)
    expect([why, decodeLetter(hexToBytes(plaintext_hex))]).toEqual([why, undefined])
})
