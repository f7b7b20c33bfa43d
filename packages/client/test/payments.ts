// Payments for tests: an operator who confirms orders by hand, and aliases that are for sale. The relay needs
// `MANUAL_PAY_TO`.
import { tellRelay } from '@sotto/relay'
import type { VanityShop } from '../src/client.ts'
import { type Person, until } from './people.ts'
import type { PeopleWorld } from './people-world.ts'

/** Marks an order as paid, as the operator does. */
export async function confirmPayment(world: PeopleWorld, orderId: string): Promise<void> {
  const input = { order_id: orderId, who: 'operator', why: 'the till says so' }
  await tellRelay({ DATA_DIR: world.relay.dataDir }, 'orders.confirm', input)
}

/** Waits until the relay has sent a person the event that an order is paid. Returns what was ordered. */
export async function untilPaid(person: Person, orderId: string): Promise<string> {
  const event = await until(`${person.name} gets the payment confirmation`, () =>
    person.heard.payment_confirmed.find(({ order_id }) => order_id === orderId),
  )
  return event.ref_id
}

/** An alias with this prefix that is for sale. */
export async function freeAlias(shop: VanityShop, prefix: string): Promise<string> {
  const [item] = await shop.search(prefix)
  if (!item) throw new Error(`the shop has no alias that begins with ${prefix}`)
  return item.alias_id
}
