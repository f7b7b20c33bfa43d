// One order: how to pay it, and what it brought.
import { useSignal } from '@preact/signals'
import { VanityShop } from '@sotto/client'
import { ButtonLink } from '../../parts/button.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Screen } from '../../parts/screen.tsx'
import { Empty, Loading } from '../../parts/state.tsx'
import { copyText } from '../../session/clipboard.ts'
import { attempt, notify } from '../../session/notices.ts'
import { href } from '../../session/route.ts'
import { useSession } from '../../session/use-session.ts'
import { shopTexts } from '../../texts/shop.ts'
import { texts } from '../../texts/texts.ts'
import { OrderCard } from './order-card.tsx'
import { useOrders } from './use-orders.ts'

export function OrderPage({ orderId }: { readonly orderId: string }) {
  const { client, relayUrl } = useSession()
  const shop = new VanityShop(client)
  const orders = useOrders()
  const isBusy = useSignal(false)
  const t = shopTexts.value
  const order = orders.value?.find(({ order_id }) => order_id === orderId)

  const change = async (work: () => Promise<unknown>): Promise<void> => {
    isBusy.value = true
    await attempt(work)
    await orders.reload()
    isBusy.value = false
  }
  const copy = async (payTo: string): Promise<void> => {
    if (await attempt(() => copyText(payTo))) notify(texts.value.common.copied)
  }
  return (
    <Screen title={t.orderTitle} back={href('shop', 'orders')}>
      {order && orders.value ? (
        <div class="column">
          <OrderCard
            order={order}
            orders={orders.value}
            relayUrl={relayUrl}
            isBusy={isBusy.value}
            onChoose={(method) => change(() => shop.chooseMethod(orderId, method))}
            onCopy={copy}
            onBind={() => change(async () => notify(t.boundNotice(await shop.bind(orderId))))}
            onTimeIsUp={() => void orders.reload()}
          />
        </div>
      ) : orders.value ? (
        <Empty
          icon="shop"
          title={t.orderUnknown}
          action={<ButtonLink href={href('shop', 'orders')}>{t.orders}</ButtonLink>}
        />
      ) : orders.error === undefined ? (
        <Loading />
      ) : (
        <Failed error={orders.error} onRetry={orders.reload} />
      )}
    </Screen>
  )
}
