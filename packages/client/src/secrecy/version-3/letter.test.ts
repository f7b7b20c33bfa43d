// The letter around the content of a message, as a hostile contact may write it.
import { expect, test } from 'bun:test'
import { decodeLetter, encodeLetter, type Letter } from './letter.ts'

const LETTER: Letter = { kind: 'content', number: 1, seen: 0, deletes: [], body: Uint8Array.of(1) }

test('what a letter repeats is named by the id of a message, or it is no letter', () => {
  for (const resends of ['m', '~'.repeat(128), crypto.randomUUID()])
    expect(decodeLetter(encodeLetter({ ...LETTER, resends }))).toEqual({ ...LETTER, resends })
  for (const resends of ['', 'a b', 'ä', 'a\n', '~'.repeat(129)])
    expect(decodeLetter(encodeLetter({ ...LETTER, resends }))).toBeUndefined()
})
