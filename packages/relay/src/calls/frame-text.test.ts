// A call frame as text: repeated names are found in any JSON, and `from` is added without other changes.
import { expect, test } from 'bun:test'
import { AliasId, check, ProtocolError } from '@sotto/protocol'
import * as fc from 'fast-check'
import { anyCharacter } from '../../../protocol/test/any-character.ts'
import { checkNamesOnce, withFrom } from './frame-text.ts'

const known = ['type', 'to', 'call_id', 'from', 'crypto_v', 'payload'] as const
const from = check(AliasId, 'u00000001')

function fieldRefused(text: string): string | undefined {
  try {
    checkNamesOnce(text)
  } catch (error) {
    return error instanceof ProtocolError ? error.details.field : 'no ProtocolError'
  }
  return undefined
}

// Texts of objects whose members may repeat, with spaces wherever JSON allows them.
const space = fc.constantFrom('', ' ', '\n\t', '\r')
const name = fc.oneof(fc.constantFrom(...known, '__proto__', ''), fc.string({ unit: anyCharacter() }))
const escaped = (text: string): string =>
  `"${Array.from(text, (c) => (c.length === 1 ? `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}` : c)).join('')}"`
const member = fc.tuple(name, fc.json(), space, fc.boolean()).map(([key, value, gap, isEscaped]) => ({
  key,
  text: `${gap}${isEscaped ? escaped(key) : JSON.stringify(key)}${gap}:${gap}${value}${gap}`,
}))
const object = fc.array(member, { minLength: 1, maxLength: 8 }).map((members) => ({
  keys: members.map(({ key }) => key),
  text: ` {${members.map(({ text }) => text).join(',')}} `,
}))

test('a known name is refused if and only if it appears twice, no matter what else is in the frame', async () => {
  await fc.assert(
    fc.property(object, ({ keys, text }) => {
      JSON.parse(text) // The text is valid JSON, like every text that the function gets.
      const isTwice = known.some((each) => keys.filter((key) => key === each).length > 1)
      expect(fieldRefused(text) !== undefined).toBe(isTwice)
    }),
    { numRuns: 2000 },
  )
})

test('`from` is added and everything else stays unchanged', async () => {
  await fc.assert(
    fc.property(object, ({ text }) => {
      const filled = withFrom(text, from)
      expect(JSON.parse(filled).from).toBe(from)
      expect(filled.replace(/,"from":"u00000001"\} $/, '} ')).toBe(text)
    }),
    { numRuns: 1000 },
  )
})
