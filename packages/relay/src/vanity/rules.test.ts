// The price list: the first pattern that matches decides, reserved ids are not for sale, and an invalid file
// never replaces valid rules.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AliasId, check } from '@sotto/protocol'
import * as fc from 'fast-check'
import { systemClock } from '../operations/clock.ts'
import { createLog } from '../operations/log.ts'
import defaultRules from './default-rules.json'
import { VanityRules, VanityRulesError } from './rules.ts'

const id = (text: string): AliasId => check(AliasId, text)
let folder: string
let file: string
let now: number
const clock = { now: () => now, monotonic: () => now }

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sotto-rules-'))
  file = join(folder, 'rules.json')
  now = 1_000_000
})
afterEach(() => rmSync(folder, { recursive: true }))

function open(content: unknown): VanityRules {
  write(content)
  return new VanityRules(file, { clock, log: createLog('silent') })
}

function write(content: unknown): void {
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
}

const SIMPLE = {
  rules: [
    { pattern: '[a-z]{3}', tier: 'top', price_usdt: 100 },
    { pattern: 'a.*', tier: 'standard', price_usdt: 1 },
  ],
  featured: ['abc', 'abcd'],
  reserved: ['add'],
}

test('the first pattern that matches the whole id decides', () => {
  const rules = open(SIMPLE)
  expect(rules.valuate(id('abc'))).toEqual({ tier: 'top', price: 100, isFeatured: true })
  expect(rules.valuate(id('abcde'))).toEqual({ tier: 'standard', price: 1, isFeatured: false })
  expect(rules.valuate(id('zabc'))).toBeUndefined()
})

test('reserved ids, ids that the relay assigns, and the id under which seats are sold have no price', () => {
  const rules = open({ ...SIMPLE, rules: [{ pattern: '.*', tier: 'top', price_usdt: 5 }] })
  expect(rules.valuate(id('add'))).toBeUndefined()
  expect(rules.valuate(id('u12345678'))).toBeUndefined()
  expect(rules.valuate(id('u1234567'))).toBeDefined()
  expect(rules.valuate(id('channel_quota'))).toBeUndefined()
})

test('a changed file is read again, within a second', () => {
  const rules = open(SIMPLE)
  write({ ...SIMPLE, rules: [{ pattern: '[a-z]{3}', tier: 'premium', price_usdt: 7_777 }] })
  expect(rules.valuate(id('abc'))?.price).toBe(100)
  now += 1001
  expect(rules.valuate(id('abc'))).toMatchObject({ tier: 'premium', price: 7_777 })
})

test('the last valid rules stay in force while the file is invalid or missing', () => {
  const rules = open(SIMPLE)
  write('{ "rules": [')
  now += 1001
  expect(rules.valuate(id('abc'))?.price).toBe(100)
  rmSync(file)
  now += 1001
  expect(rules.valuate(id('abc'))?.price).toBe(100)
  write({ ...SIMPLE, rules: [] })
  now += 1001
  expect(rules.valuate(id('abc'))).toBeUndefined()
})

describe('at the start a file is refused if it', () => {
  test.each([
    ['is not JSON', 'nonsense', 'is not JSON'],
    ['has no rules', {}, 'rules'],
    ['has an invalid pattern', { rules: [{ pattern: '(', tier: 'top', price_usdt: 1 }] }, 'rules.0.pattern'],
    ['has an unknown tier', { rules: [{ pattern: 'a', tier: 'gold', price_usdt: 1 }] }, 'rules.0.tier'],
    ['sells for nothing', { rules: [{ pattern: 'a', tier: 'top', price_usdt: 0 }] }, 'rules.0.price_usdt'],
    [
      'sells for more than an order can cost',
      { rules: [{ pattern: 'a', tier: 'top', price_usdt: 1_000_000_001 }] },
      'rules.0.price_usdt',
    ],
    [
      'has a price that is not a whole number',
      { rules: [{ pattern: 'a', tier: 'top', price_usdt: 1.5 }] },
      'rules.0.price_usdt',
    ],
    ['features an invalid id', { rules: [], featured: ['A!'] }, 'featured.0'],
    ['has an unknown field', { rules: [], prices: [] }, 'prices'],
  ])('%s', (_what, content, place) => {
    expect(() => open(content)).toThrow(VanityRulesError)
    expect(() => open(content)).toThrow(place)
  })

  test('does not exist', () => {
    expect(() => new VanityRules(join(folder, 'none'), { clock, log: createLog('silent') })).toThrow(
      'cannot be read',
    )
  })
})

describe('ids of one character', () => {
  test('are priced by “repeated”, which names the characters and how many at least', () => {
    const rules = open({
      rules: [{ repeated: { character: '[a-m]', at_least: 4 }, tier: 'top', price_usdt: 7 }],
    })
    expect(rules.valuate(id('aaaa'))).toMatchObject({ price: 7 })
    expect(rules.valuate(id('m'.repeat(32)))).toMatchObject({ price: 7 })
    for (const other of ['aaa', 'zzzz', 'aaab', 'baaa']) expect(rules.valuate(id(other))).toBeUndefined()
  })

  test.each([
    [
      'both a pattern and “repeated”',
      { pattern: 'a', repeated: { character: 'a', at_least: 3 } },
      'rules.0 must',
    ],
    ['neither', {}, 'rules.0 must'],
    ['more than an id has', { repeated: { character: 'a', at_least: 33 } }, 'rules.0.repeated.at_least'],
    ['a part of one', { repeated: { character: 'a', at_least: 3.5 } }, 'rules.0.repeated.at_least'],
    ['an invalid set', { repeated: { character: '[', at_least: 3 } }, 'rules.0.repeated.character'],
  ])('a rule with %s is refused', (_what, rule, place) => {
    expect(() => open({ rules: [{ ...rule, tier: 'top', price_usdt: 1 }] })).toThrow(place)
  })
})

test('a file with a pattern that no table can decide is refused, and the line is named', () => {
  for (const [pattern, rule] of [
    ['([a-z0-9])\\1{3,}', '“\\1” is a back reference; “repeated” is for ids of one character (character 12)'],
    ['(?<one>[a-z])\\k<one>', '“\\k” is a back reference'],
    ['(?=.*[0-9])[a-z0-9]+', 'a group can only begin with'],
    ['a(?<!b)', 'a group can only begin with'],
    ['\\bada', '“\\b” is not supported'],
    ['(a{1,31}){1,31}', 'is too large: more than 500 characters'],
    ['.*a.{12}', 'is too large: its table has more than 1000 rows'],
  ]) {
    const more = { pattern, tier: 'top', price_usdt: 1 }
    const content = JSON.stringify({ rules: [...SIMPLE.rules, more] }, undefined, 2)
    expect(() => open(content)).toThrow(`${file}: rules.2.pattern (line 14) `)
    expect(() => open(content)).toThrow(rule)
  }
})

test('the tables of a file have a bound together', () => {
  const rule = { pattern: '[a-z][a-z0-9_]{2,30}', tier: 'top', price_usdt: 1 }
  expect(open({ rules: Array(500).fill(rule) }).valuate(id('river'))).toMatchObject({ price: 1 })
  expect(() => open({ rules: Array(1000).fill(rule) })).toThrow('too large together')
})

// The rules that came with the relay while it decided ids with the runtime's regular expressions.
const FORMER_DEFAULTS = [
  { matches: /^(?:[a-z0-9]{3})$/u, tier: 'top', price: 500 },
  { matches: /^(?:([a-z0-9])\1{3,})$/u, tier: 'top', price: 300 },
  { matches: /^(?:[a-z]{4})$/u, tier: 'premium', price: 120 },
  { matches: /^(?:[0-9]{4,6})$/u, tier: 'premium', price: 100 },
  { matches: /^(?:[a-z]{5,6})$/u, tier: 'premium', price: 40 },
  { matches: /^(?:[a-z][a-z0-9]{3,15})$/u, tier: 'standard', price: 10 },
  { matches: /^(?:[a-z0-9][a-z0-9_]{2,30}[a-z0-9])$/u, tier: 'standard', price: 5 },
]

describe('the rules that come with the relay keep their meaning', () => {
  const rules = new VanityRules(undefined, { clock: systemClock, log: createLog('silent') })
  // Ids that these two leave out of a price list are not in question here.
  const isForSale = (text: string): boolean =>
    !/^u[0-9]{8,}$/.test(text) && text !== 'channel_quota' && !defaultRules.reserved.includes(text)
  const priceOf = (text: string): string => {
    const valuation = rules.valuate(id(text))
    return valuation ? `${valuation.tier} ${valuation.price}` : 'none'
  }
  const formerPriceOf = (text: string): string => {
    const rule = FORMER_DEFAULTS.find(({ matches }) => matches.test(text))
    return rule ? `${rule.tier} ${rule.price}` : 'none'
  }

  test('for every id of three characters, and of four to six of a few', () => {
    const all = (characters: string, length: number): string[] =>
      length === 0
        ? ['']
        : all(characters, length - 1).flatMap((text) => [...characters].map((c) => text + c))
    const ids = [
      ...all('abcdefghijklmnopqrstuvwxyz0123456789_', 3),
      ...all('amz059_', 4),
      ...all('az09_', 5),
      ...all('a9_', 6),
    ]
    expect(ids.filter((text) => isForSale(text) && priceOf(text) !== formerPriceOf(text))).toEqual([])
  })

  test('for ids of every length', async () => {
    const character = fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz0123456789_')
    const text = fc.array(character, { minLength: 3, maxLength: 32 }).map((characters) => characters.join(''))
    const letters = fc.stringMatching(/^[a-z]{3,32}$/)
    const digits = fc.stringMatching(/^[0-9]{3,32}$/)
    const run = fc
      .tuple(character, fc.integer({ min: 3, max: 32 }))
      .map(([each, count]) => each.repeat(count))
    const almostRun = fc
      .tuple(run, fc.nat(31), character)
      .map(
        ([each, at, other]) => each.slice(0, at % each.length) + other + each.slice((at % each.length) + 1),
      )
    const anyId = fc.oneof(text, letters, digits, run, almostRun)
    await fc.assert(
      fc.property(anyId, (each) => {
        fc.pre(isForSale(each))
        expect(priceOf(each)).toBe(formerPriceOf(each))
      }),
      { numRuns: 3000 },
    )
  })
})
