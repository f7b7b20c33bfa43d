// The search for custom ids, seen from outside.
import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { failureOf } from '../../protocol/test/failure-of.ts'
import { expectFields, expectInvalidField } from './expect.ts'
import { startRelay } from './relay-process.ts'
import { onEveryEngine } from './use-relay.ts'
import { call, wireAccount } from './wire.ts'

const folder = mkdtempSync(join(tmpdir(), 'sotto-vanity-'))
const file = join(folder, 'rules.json')
const rules = {
  rules: [
    { pattern: '[a-z]{3}', tier: 'top', price_usdt: 500 },
    { pattern: '[a-z]{4,}', tier: 'premium', price_usdt: 50 },
    { pattern: '[a-z0-9]+', tier: 'standard', price_usdt: 5 },
  ],
  featured: ['whisper', 'abc', 'zen9', 'admin'],
  reserved: ['admin', 'rootpro'],
}
writeFileSync(file, JSON.stringify(rules))
afterAll(() => rmSync(folder, { recursive: true }))

interface Item {
  alias_id: string
  price_usdt: number
  tier: string
  is_featured: boolean
}

onEveryEngine(
  (relay) => {
    const search = (q?: string) =>
      call(`${relay.url}/api/v1/vanity/search${q === undefined ? '' : `?q=${encodeURIComponent(q)}`}`)
    const items = async (q?: string): Promise<Item[]> => (await search(q)).body

    describe('search', () => {
      test('without a query returns the featured ids, the cheapest first, and no reserved id', async () => {
        const featured = [
          { alias_id: 'zen9', price_usdt: 5, tier: 'standard', is_featured: true },
          { alias_id: 'whisper', price_usdt: 50, tier: 'premium', is_featured: true },
          { alias_id: 'abc', price_usdt: 500, tier: 'top', is_featured: true },
        ]
        expect(await items()).toEqual(featured)
        expect(await items('')).toEqual(featured)
      })

      test('with a query returns that id and ids that begin with it, each with its price', async () => {
        const found = await items('river')
        expect(found[0]).toEqual({ alias_id: 'river', price_usdt: 50, tier: 'premium', is_featured: false })
        expect(found.length).toBeGreaterThan(5)
        expect(new Set(found.map(({ alias_id }) => alias_id)).size).toBe(found.length)
        for (const item of found) {
          expectFields(item, ['alias_id', 'price_usdt', 'tier', 'is_featured'])
          expect(item.alias_id).toMatch(/^river[a-z0-9_]*$/)
          expect(item.price_usdt).toBe(/^[a-z]+$/.test(item.alias_id) ? 50 : 5)
        }
      })

      test('completes a query that is too short to be an id', async () => {
        const found = await items('ab')
        expect(found.map(({ alias_id }) => alias_id)).not.toContain('ab')
        expect(found.length).toBeGreaterThan(0)
      })

      test('returns no id that is taken or reserved', async () => {
        const account = await wireAccount(relay.url)
        expect((await items(account.alias)).map(({ alias_id }) => alias_id)).not.toContain(account.alias)
        expect((await items('admin')).map(({ alias_id }) => alias_id)).not.toContain('admin')
        expect((await items('root')).map(({ alias_id }) => alias_id)).not.toContain('rootpro')
      })

      test('returns nothing for a query that no id can begin with', async () => {
        for (const q of ['A', 'a-b', ' ', 'é', '%', 'x'.repeat(33), '\u0000'])
          expect(await items(q)).toEqual([])
        expectInvalidField(await search('x'.repeat(257)), 'q')
      })
    })
  },
  { VANITY_RULES: file },
)

test('a relay does not start with invalid rules, and names the place', async () => {
  const broken = join(folder, 'broken.json')
  writeFileSync(broken, JSON.stringify({ rules: [{ pattern: '(', tier: 'top', price_usdt: 1 }] }))
  expect(String(await failureOf(startRelay({ env: { VANITY_RULES: broken } })))).toMatch(
    /VANITY_RULES.*rules\.0\.pattern \(line 1\) must be a regular expression/s,
  )
})

test('the relay’s default rules offer ids', async () => {
  const relay = await startRelay()
  const { body } = await call(`${relay.url}/api/v1/vanity/search`)
  expect(body.length).toBeGreaterThan(3)
  await relay.stop()
})
