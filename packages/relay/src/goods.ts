// The goods that the relay sells, by kind of order.
import { channelGoods, seatGoods } from './channels/channels.ts'
import type { AllGoods } from './payments/goods.ts'
import { vanityGoods } from './vanity/vanity.ts'

export const goods: AllGoods = {
  vanity: vanityGoods,
  reserve: vanityGoods,
  channel: channelGoods,
  quota: seatGoods,
}
