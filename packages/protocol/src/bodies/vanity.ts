// Bodies and replies of the shop of custom ids.
import * as v from 'valibot'
import { AliasId } from '../ids.ts'

/** How popular an id is, according to the relay's price list. */
export const VanityTier = v.picklist(['top', 'premium', 'standard'])
/** See {@link VanityTier}. */
export type VanityTier = v.InferOutput<typeof VanityTier>

/** An id for sale, at its present price. */
export const VanityItem = v.object({
  alias_id: AliasId,
  /** Whole stablecoin units. */
  price_usdt: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
  tier: VanityTier,
  is_featured: v.boolean(),
})
/** See {@link VanityItem}. */
export type VanityItem = v.InferOutput<typeof VanityItem>

export const VanityItemList = v.array(VanityItem)

export const VanitySearchQuery = v.object({
  q: v.optional(v.pipe(v.string(), v.maxLength(256, 'must be at most 256 characters')), ''),
})
