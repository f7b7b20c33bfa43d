// The shop of custom ids as the rest of the relay knows it.
export { vanityGoods } from './purchase.ts'
export { vanityRoutes } from './routes.ts'
export { VanityRules, VanityRulesError } from './rules.ts'
