// What a query finds in a text, in any script, and which parts of it are highlighted.
import { describe, expect, test } from 'bun:test'
import { indexOfNeedle, needlesOf, rangesIn, readQuery } from './query.ts'
import { lineOf } from './words.ts'

/** The parts of a text that a query finds; undefined if it does not find the text. */
function partsIn(text: string, typed: string): string[] | undefined {
  const query = readQuery(typed)
  const line = lineOf(text)
  if (query.terms.length === 0 || !needlesOf(query).every((needle) => indexOfNeedle(line, needle) !== -1))
    return undefined
  return rangesIn(query, text).map(({ start, end }) => text.slice(start, end))
}

describe('a query finds', () => {
  const found: readonly (readonly [text: string, typed: string, ...parts: string[]])[] = [
    ['See you tomorrow, Bob', 'tomorrow', 'tomorrow'],
    ['See you tomorrow, Bob', 'bob SEE', 'See', 'Bob'],
    ['See you tomorrow, Bob', 'tom', 'tom'],
    ['See you tomorrow, Bob', 'tomorrow ', 'tomorrow'],
    ['well-known, 3.14', 'known 14', 'known', '14'],
    ['Ein schöner Tag in der Straße', 'schoner strasse', 'schöner', 'Straße'],
    ['cafe\u0301 con leche', 'CAFÉ', 'cafe\u0301'],
    ['ﬁnal', 'fin', 'ﬁn'],
    ['İstanbul ve Iğdır', 'istanbul igdir', 'İstanbul', 'Iğdır'],
    ['ΟΔΥΣΣΕΥΣ', 'οδυσσεύς', 'ΟΔΥΣΣΕΥΣ'],
    ['Ёлка и ещё', 'елка еще', 'Ёлка', 'ещё'],
    ['שָׁלוֹם עולם', 'שלום', 'שָׁלוֹם'],
    ['السَّلَامُ عليكم', 'السلام', 'السَّلَامُ'],
    ['مـــرحبا', 'مرحبا', 'مـــرحبا'],
    ['नमस्ते दुनिया', 'नमस्', 'नमस्'],
    ['明日は東京タワーへ行きます', '東京', '東京'],
    ['明日は東京タワーへ行きます', 'タワ 行', 'タワ', '行'],
    ['我在北京大学学习', '大学', '大学'],
    ['ガラス', 'カ\u3099ラ', 'ガラ'],
    ['한국어를 배워요', '국어', '국어'],
    ['\u1112\u1161\u11ab\u1100\u116e\u11a8', '한국', '\u1112\u1161\u11ab\u1100\u116e\u11a8'],
    ['ฉันรักภาษาไทย', 'ภาษา', 'ภาษา'],
    ['東京tower', 'tower 東', '東', 'tower'],
    ['well done 🎉👍', '👍', '👍'],
    ['soft\u00adhyphen', 'softhyphen', 'soft\u00adhyphen'],
    ['می\u200cخواهم', 'میخواهم', 'می\u200cخواهم'],
  ]
  for (const [text, typed, ...parts] of found)
    test(`${JSON.stringify(typed)} in ${JSON.stringify(text)}`, () =>
      expect(partsIn(text, typed)).toEqual(parts))
})

describe('a query does not find', () => {
  const missed: readonly (readonly [text: string, typed: string])[] = [
    ['tomorrow', 'morrow'],
    ['tomorrow', 'tom '],
    ['tomorrow', 'tom, '],
    ['tomorrow', 'tom tomorrow'],
    ['が', 'か'],
    ['की', 'का'],
    ['北京', '京北'],
    ['text', ''],
    ['text', ' ?! '],
  ]
  for (const [text, typed] of missed)
    test(`${JSON.stringify(typed)} in ${JSON.stringify(text)}`, () =>
      expect(partsIn(text, typed)).toBeUndefined())
})

test('of a hostile text, the first 1,000 words are searched, and long words by their beginning', () => {
  const distinct = Array.from({ length: 12_000 }, (_, at) => at.toString(36)).join(' ')
  const pairs = Array.from({ length: 20_000 }, (_, at) => String.fromCodePoint(0x4e00 + at)).join('')
  const long = 'x'.repeat(65_536)
  const longs = Array.from({ length: 60 }, (_, at) => `${at}`.repeat(500)).join(' ')
  // One character of these becomes eighteen.
  const growing = '\ufdfa'.repeat(21_845)
  for (const text of [distinct, pairs, long, longs, growing]) expect(lineOf(text).length).toBeLessThan(18_000)
  expect(partsIn(long, 'xxx')).toEqual(['xxx'])
  expect(partsIn(distinct, 'rr ')).toEqual(['rr'])
  expect(partsIn(distinct, 'zzz ')).toBeUndefined()
  expect(partsIn(pairs, '丁丂')).toEqual(['丁丂'])
  expect(partsIn(`${'same word '.repeat(5000)}last`, 'last')).toEqual(['last'])
})
