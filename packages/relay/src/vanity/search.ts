// Searches the shop: featured ids, or ids that begin with the query and can be bought.
import { AliasId, type VanityItem } from '@sotto/protocol'
import * as v from 'valibot'
import type { Sql } from '../storage/storage.ts'
import type { VanityRules } from './rules.ts'
import { isTaken } from './taken.ts'

const MOST_RESULTS = 20
/** Endings that are appended to the query: short words that people remember. */
const COMPLETIONS = [
  ...[
    'hq',
    'one',
    'app',
    'pro',
    'lab',
    'io',
    'now',
    'go',
    'me',
    'tv',
    'fm',
    'art',
    'dev',
    'team',
    'club',
    'live',
  ],
  ...[
    'world',
    'studio',
    'media',
    'news',
    'music',
    'real',
    'its',
    'daily',
    'online',
    'official',
    'family',
    'shop',
  ],
  ...['1', '7', '8', '9', '11', '77', '88', '99', '123', '360', '777', '888', '2000', '007'],
  ...['_', 'a', 'e', 'i', 'o', 'x', 'y', 'z', 'er', 'ly', 'ia', 'us', 'en', 'el', 'on', 'ar', 'is', 'ie'],
]

/**
 * If `query` is empty: the featured ids, cheapest first. Otherwise: the query, if it is an id, and memorable
 * ids that begin with it. Ids that are taken, held, reserved or without a price are left out.
 */
export async function searchVanity(sql: Sql, rules: VanityRules, query: string): Promise<VanityItem[]> {
  if (query === '') {
    const featured = await available(sql, rules, rules.featured())
    return featured.sort((a, b) => a.price_usdt - b.price_usdt || (a.alias_id < b.alias_id ? -1 : 1))
  }
  const candidates = [query, ...COMPLETIONS.map((ending) => query + ending)].filter(isAlias)
  return (await available(sql, rules, candidates)).slice(0, MOST_RESULTS)
}

async function available(sql: Sql, rules: VanityRules, ids: readonly AliasId[]): Promise<VanityItem[]> {
  const items: VanityItem[] = []
  for (const id of new Set(ids)) {
    const valuation = rules.valuate(id)
    if (!valuation || (await isTaken(sql, id))) continue
    const { tier, price, isFeatured } = valuation
    items.push({ alias_id: id, price_usdt: price, tier, is_featured: isFeatured })
  }
  return items
}

function isAlias(text: string): text is AliasId {
  return v.is(AliasId, text)
}
