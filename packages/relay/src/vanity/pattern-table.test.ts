// Patterns of the price list: what is accepted means what it means in JavaScript, and deciding an id takes
// one step for each of its characters.
import { describe, expect, test } from 'bun:test'
import * as fc from 'fast-check'
import { PatternError } from './pattern-syntax.ts'
import { type PatternTable, patternTableOf } from './pattern-table.ts'

const character = fc.constantFrom(
  ...['a', 'b', '0', '_', '.', 'A', 'é', '\\d', '\\D', '\\w', '\\W', '\\s', '\\S', '\\.', '\\\\', '\\/'],
  ...['[ab]', '[^a]', '[a-b0]', '[^\\d_]', '[\\w]', '[-a]', '[a-]', '[\\-b]', '[]', '[^]', '[b-é]', '[[:a]'],
)
const quantifier = fc.constantFrom('', '', '*', '+', '?', '+?', '{0}', '{2}', '{0,2}', '{1,}', '{2,3}?')
const large = fc
  .tuple(character, fc.constantFrom('{33}', '{1,40}', '{2,}', '{0,31}'))
  .map((texts) => texts.join(''))

// Patterns with everything that is supported. They are small, because the runtime's engine may take
// exponential time for them.
function patternsOf(depth: number): fc.Arbitrary<string> {
  const groups = (begin: string): fc.Arbitrary<string>[] =>
    depth === 0 ? [] : [patternsOf(depth - 1).map((inner) => `${begin}${inner})`)]
  const atom = fc.oneof(character, ...groups('('), ...groups('(?:'), ...groups(`(?<n${depth}>`))
  const part = fc.oneof(
    { arbitrary: fc.tuple(atom, quantifier).map((texts) => texts.join('')), weight: 5 },
    { arbitrary: large, weight: 1 },
  )
  const sequence = fc.array(part, { maxLength: 3 }).map((parts) => parts.join(''))
  return fc.array(sequence, { minLength: 1, maxLength: 2 }).map((options) => options.join('|'))
}

test('a pattern matches the ids that it matches in JavaScript', async () => {
  const id = fc.array(fc.constantFrom('a', 'b', '0', '_', 'z'), { maxLength: 5 }).map((each) => each.join(''))
  let accepted = 0
  await fc.assert(
    fc.property(patternsOf(2), fc.array(id, { minLength: 20, maxLength: 20 }), (text, ids) => {
      const expected = regularExpressionOf(text)
      fc.pre(expected !== undefined)
      const table = tableUnlessTooLarge(text)
      fc.pre(table !== undefined)
      accepted += 1
      expect(ids.filter((each) => table?.matches(each))).toEqual(ids.filter((each) => expected?.test(each)))
    }),
    { numRuns: 300 },
  )
  expect(accepted).toBe(300)
}, 120_000)

function tableUnlessTooLarge(text: string): PatternTable | undefined {
  try {
    return patternTableOf(text)
  } catch (error) {
    if (error instanceof PatternError && error.message.startsWith('is too large')) return undefined
    throw error
  }
}

// Undefined if it is not valid: a name may occur once only.
function regularExpressionOf(text: string): RegExp | undefined {
  try {
    return new RegExp(`^(?:${text})$`, 'u')
  } catch {
    return undefined
  }
}

test('a pattern that takes a backtracking engine exponential time is decided with one step a character', () => {
  for (const [text, id, isMatch] of [
    ['(?:[1-9][0-9]*)+x', '1'.repeat(24), false],
    ['(?:[1-9][0-9]*)+x', `${'1'.repeat(31)}x`, true],
    ['(a+)+b', 'a'.repeat(32), false],
    ['(.*)*x', 'a'.repeat(32), false],
    ['(?:a|a)*b', `${'a'.repeat(31)}b`, true],
    ['(?:(?:a?){32}){3}a{32}', 'a'.repeat(32), true],
  ] as const) {
    const { matches } = patternTableOf(text)
    let steps = 0
    const counted = {
      length: id.length,
      charCodeAt: (at: number) => {
        steps += 1
        return id.charCodeAt(at)
      },
    }
    expect(matches(counted)).toBe(isMatch)
    expect(steps).toBeLessThanOrEqual(id.length)
  }
})

test('at its ends “^” and “$” change nothing; elsewhere they are refused', () => {
  const { matches } = patternTableOf('^ab$|^cd|ef$')
  expect(['ab', 'cd', 'ef', 'abcd', 'a'].map(matches)).toEqual([true, true, true, false, false])
  for (const text of ['a^b', 'a$b', '(^a)', '(a$)', 'a|b^'])
    expect(() => patternTableOf(text)).toThrow('can only be')
})

describe('what a table cannot decide is refused, and its place is named', () => {
  test.each([
    ['(a)\\1', '“\\1” is a back reference', 5],
    ['(?<a>b)\\k<a>', '“\\k” is a back reference', 9],
    ['a(?=b)', 'a group can only begin', 3],
    ['a(?!b)', 'a group can only begin', 3],
    ['(?<=a)b', 'a group can only begin', 2],
    ['\\bab', '“\\b” is not supported', 2],
    ['ab\\u0061', '“\\u” is not supported', 4],
    ['\\p{L}', '“\\p” is not supported', 2],
    ['[\\--a]', 'a range can only be between', 5],
    ['[!-\\-]', 'a range can only be between', 4],
  ])('%s', (text, rule, place) => {
    expect(() => patternTableOf(text)).toThrow(rule)
    expect(() => patternTableOf(text)).toThrow(`(character ${place})`)
  })

  test.each(['(', 'a{2,1}', '[z-a]', 'a)|(b', '*'])('%s is no regular expression', (text) => {
    expect(() => patternTableOf(text)).toThrow('must be a regular expression')
  })
})
