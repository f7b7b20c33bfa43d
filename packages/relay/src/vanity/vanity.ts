// The shop of custom ids, as the rest of the relay uses it.
export { vanityGoods } from './purchase.ts'
export { ReserveRate } from './reserve-rate.ts'
export { vanityRoutes } from './routes.ts'
export { VanityRules, VanityRulesError } from './rules.ts'
