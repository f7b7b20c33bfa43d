// The user's orders, read again when a payment is confirmed.
import { type OwnOrder, VanityShop } from '@sotto/client'
import { useLayoutEffect } from 'preact/hooks'
import { notify } from '../../session/notices.ts'
import { type Loaded, useLoaded } from '../../session/use-loaded.ts'
import { useSession } from '../../session/use-session.ts'
import { shopTexts } from '../../texts/shop.ts'

/** Follows the orders of the account, the newest first. */
export function useOrders(): Loaded<readonly OwnOrder[]> {
  const { client, network } = useSession()
  // A payment that was confirmed while there was no connection is told by the relay, too.
  const orders = useLoaded(() => new VanityShop(client).orders(), [network.value === 'connected'])
  useLayoutEffect(
    () =>
      client.on('payment_confirmed', () => {
        notify(shopTexts.value.confirmedNotice)
        void orders.reload()
      }),
    [],
  )
  return orders
}
