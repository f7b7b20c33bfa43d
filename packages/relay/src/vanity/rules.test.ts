// The price list: the first pattern that matches decides, reserved ids are not for sale, and an invalid file
// never replaces valid rules.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AliasId, check } from '@sotto/protocol'
import { systemClock } from '../operations/clock.ts'
import { createLog } from '../operations/log.ts'
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

test('a pattern does not count as slow because the machine was slow a few times', () => {
  let reads = 0
  const interrupted = { now: () => now, monotonic: () => (++reads <= 5 ? reads * 30 : 1000) }
  write(SIMPLE)
  expect(() => new VanityRules(file, { clock: interrupted, log: createLog('silent') })).not.toThrow()
})

test('refuses a pattern that would block every search, and no other', () => {
  const parts = { clock: systemClock, log: createLog('silent') }
  for (const pattern of ['(a+)+b', '([a-z]+)*_', '(?:a|a)*b', '(.*)*x']) {
    write({ rules: [...SIMPLE.rules, { pattern, tier: 'top', price_usdt: 1 }] })
    expect(() => new VanityRules(file, parts)).toThrow('rules.2.pattern takes too long for some ids')
  }
  write({
    rules: Array.from({ length: 200 }, () => ({
      pattern: '[a-z][a-z0-9_]{2,31}',
      tier: 'top',
      price_usdt: 1,
    })),
  })
  expect(new VanityRules(file, parts).valuate(id('river'))).toMatchObject({ price: 1 })
})
