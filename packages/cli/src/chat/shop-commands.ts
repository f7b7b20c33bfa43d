// The commands of the shop for aliases. Paying happens outside of the chat, on a page of the relay.
import { type OwnOrder, VanityShop } from '@sotto/client'
import { sanitizeLine } from '../sanitize.ts'
import type { Chat } from './chat.ts'
import type { CommandGroup } from './command-row.ts'
import { inWords, Notice } from './explain.ts'
import { qrOf } from './qr.ts'
import { clockTime } from './transcript.ts'

/** The commands of the shop. */
export const shopCommands: CommandGroup = {
  title: 'Shop for aliases',
  rows: [
    { name: 'shop', takes: '[beginning]', summary: 'list aliases for sale and their prices', run: search },
    { name: 'buy', takes: '<alias>', summary: 'order an alias, and show where to pay', run: buy },
    { name: 'orders', takes: '', summary: 'list your orders', run: orders },
    { name: 'bind', takes: '<alias>', summary: 'make a paid alias yours', run: bind },
  ],
}

const GONE = 'This relay does not sell that alias.'

async function search(chat: Chat, beginning: string): Promise<void> {
  const items = await new VanityShop(chat.client).search(
    beginning === '' ? undefined : beginning.toLowerCase(),
  )
  if (items.length === 0) chat.terminal.print('No such alias is for sale.')
  for (const { alias_id, price_usdt } of items)
    chat.terminal.print(`  ${alias_id.padEnd(32)} ${String(price_usdt).padStart(6)} USDT`)
}

async function buy(chat: Chat, alias: string): Promise<void> {
  const order = await inWords({ NOT_FOUND: GONE }, () =>
    new VanityShop(chat.client).purchase(alias.toLowerCase()),
  )
  const { alias_id, price_usdt, payment_url, expired_at } = order
  chat.terminal.print(
    `• ${alias_id} is held for you until ${clockTime(Date.parse(expired_at))}. It costs ${price_usdt} USDT.`,
  )
  const page = pageOf(payment_url)
  if (page !== undefined) chat.terminal.print(`${qrOf(page, chat.hasColour)}\nPay on this page:\n${page}`)
  else if (order.pay_to) chat.terminal.print(`Pay to: ${sanitizeLine(order.pay_to, 300)}`)
  chat.terminal.print('You will see here when the payment is confirmed.')
}

/** The address of a payment page, if it is one. */
function pageOf(url: string): string | undefined {
  const isPage = URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)
  return isPage ? new URL(url).href : undefined
}

async function orders(chat: Chat): Promise<void> {
  const list = await new VanityShop(chat.client).orders()
  if (list.length === 0) chat.terminal.print('You have no orders.')
  for (const order of list) {
    chat.terminal.print(
      `  ${nameOf(order).padEnd(32)} ${String(order.price_usdt).padStart(6)} USDT  ${stateOf(order)}`,
    )
    const page = pageOf(order.payment_url)
    if (order.status === 'pending' && page !== undefined) chat.terminal.print(`      ${page}`)
  }
}

function nameOf({ kind, ref_id }: OwnOrder): string {
  if (kind === 'quota') return 'one more channel'
  return kind === 'channel' ? `channel ${ref_id}` : ref_id
}

function stateOf({ status, is_bound, expired_at }: OwnOrder): string {
  if (status === 'pending') return `to be paid until ${clockTime(Date.parse(expired_at))}`
  if (status === 'expired') return 'expired'
  return is_bound === false ? 'paid; /bind makes it your alias' : 'paid'
}

async function bind(chat: Chat, alias: string): Promise<void> {
  const shop = new VanityShop(chat.client)
  const wanted = alias.toLowerCase()
  const own = (await shop.orders()).filter((each) => each.ref_id === wanted)
  const order = own.find((each) => each.status === 'confirmed') ?? own[0]
  if (!order) throw new Notice(`You have no order for ${sanitizeLine(alias)}; /orders lists them.`)
  const bound = await shop.bind(order.order_id)
  chat.terminal.print(`• Your alias is ${bound} now. Friends still reach you by the earlier one.`)
}
