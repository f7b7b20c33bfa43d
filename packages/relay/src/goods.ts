// The goods that the relay sells, by kind of order.
import { channelGoods, seatGoods } from './channels/channels.ts'
import type { AllGoods } from './payments/goods.ts'
import { type VanityRules, vanityGoods } from './vanity/vanity.ts'

/** @param rules the price list of ids */
export function createGoods(rules: Pick<VanityRules, 'valuate'>): AllGoods {
  const ids = vanityGoods(rules)
  return { vanity: ids, reserve: ids, channel: channelGoods, quota: seatGoods }
}
