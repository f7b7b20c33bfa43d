// The user's orders.
import { ButtonLink } from '../../parts/button.tsx'
import { Failed } from '../../parts/failed.tsx'
import { LongList } from '../../parts/long-list.tsx'
import { Row } from '../../parts/row.tsx'
import { Screen } from '../../parts/screen.tsx'
import { Empty, Loading } from '../../parts/state.tsx'
import { now } from '../../session/clock.ts'
import { href } from '../../session/route.ts'
import { numberOf, shortTime } from '../../texts/dates.ts'
import { shopTexts } from '../../texts/shop.ts'
import { useOrders } from './use-orders.ts'

export function OrderList() {
  const orders = useOrders()
  const t = shopTexts.value
  return (
    <Screen title={t.orders} back={href('shop')}>
      {!orders.value ? (
        orders.error === undefined ? (
          <Loading />
        ) : (
          <Failed error={orders.error} onRetry={orders.reload} />
        )
      ) : orders.value.length === 0 ? (
        <Empty
          icon="shop"
          title={t.noOrders}
          action={<ButtonLink href={href('shop')}>{t.toShop}</ButtonLink>}
        >
          {t.noOrdersHint}
        </Empty>
      ) : (
        <LongList items={orders.value} keyOf={({ order_id }) => order_id}>
          {({ order_id, kind, ref_id, status, price_usdt, created_at, is_bound }) => (
            <Row
              title={
                <>
                  {t.kinds[kind]} {kind !== 'quota' && <span class="code">{ref_id}</span>}
                </>
              }
              detail={`${is_bound ? t.bound : t.states[status]} · ${shortTime(Date.parse(created_at), now.value)}`}
              end={<span class="shop-price number">{t.price(numberOf(price_usdt))}</span>}
              href={href('shop', 'orders', order_id)}
            />
          )}
        </LongList>
      )}
    </Screen>
  )
}
