// The shop of custom ids as the rest of the relay knows it.
import type { Handlers } from '../listener/route.ts'
import type { Storage } from '../storage/storage.ts'
import type { VanityRules } from './rules.ts'
import { searchVanity } from './search.ts'

export { VanityRules, VanityRulesError } from './rules.ts'

export function vanityRoutes(parts: { storage: Storage; rules: VanityRules }): Handlers<'searchVanity'> {
  const { storage, rules } = parts
  return { searchVanity: ({ query }) => searchVanity(storage.sql, rules, query.q) }
}
