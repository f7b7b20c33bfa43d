// Orders and the payouts that are due: what `sotto orders` says and does.
import { useState } from 'preact/hooks'
import { Button } from '../parts/button.tsx'
import { Choice } from '../parts/choice.tsx'
import { Empty } from '../parts/state.tsx'
import { href, route } from '../session/route.ts'
import { adminDeedTexts } from '../texts/admin-deeds.ts'
import { dateAndTime, fullTime } from '../texts/dates.ts'
import { Answered } from './answered.tsx'
import type { Order, Payout } from './answers.ts'
import { type Deed, DeedDialog } from './deed-dialog.tsx'
import { OrderPage } from './order-page.tsx'
import { ask } from './relay-commands.ts'
import { useAnswer } from './use-answer.ts'
import './items.css'

const EVERY_MS = 10_000

/** What each choice of orders asks for. */
const FILTERS = {
  all: {},
  pending: { status: 'pending' },
  refunds: { refunds: true },
  lost: { lost: true },
} as const
type Filter = keyof typeof FILTERS

export function OrdersPage() {
  const [, id] = route.value.path
  return id === undefined ? <OrderLists /> : <OrderPage key={id} id={id} />
}

function OrderLists() {
  const t = adminDeedTexts.value.orders
  const [filter, choose] = useState<Filter>('all')
  const orders = useAnswer('orders.list', { input: { ...FILTERS[filter], limit: 200 }, everyMs: EVERY_MS })
  return (
    <>
      <Payouts />
      <section class="admin-section">
        <h2 class="spoken">{t.title}</h2>
        <Choice
          label={t.show}
          value={filter}
          onChange={choose}
          options={(['all', 'pending', 'refunds', 'lost'] as const).map((value) => ({
            value,
            label: t.filters[value],
          }))}
        />
        <Answered read={orders}>
          {(list) =>
            list.length === 0 ? (
              <Empty icon="shop" title={t.none} />
            ) : (
              <ul class="items">
                {list.map((order) => (
                  <OrderItem key={order.order_id} order={order} />
                ))}
              </ul>
            )
          }
        </Answered>
      </section>
    </>
  )
}

function OrderItem({ order }: { readonly order: Order }) {
  const t = adminDeedTexts.value.orders
  const { order_id, kind, ref_id, status, price_usdt, buyer, created_at, refunds_due, lost_payments } = order
  return (
    <li>
      <a class="item" href={href('orders', order_id)}>
        <span class="item-main">
          <span>
            {t.kinds[kind]} <bdi class="code">{ref_id}</bdi>
          </span>
          <span class="soft small">
            {dateAndTime(Date.parse(created_at))}
            {buyer !== null && (
              <>
                {' · '}
                <bdi class="code">{buyer}</bdi>
              </>
            )}
          </span>
        </span>
        <span class="item-end">
          <span class="number">{t.price(price_usdt)}</span>
          <span class="mark" data-kind={status === 'confirmed' ? 'good' : undefined}>
            {t.states[status]}
          </span>
          {refunds_due > 0 && (
            <span class="mark" data-kind="warning">
              {t.refundsDue(refunds_due)}
            </span>
          )}
          {lost_payments > 0 && (
            <span class="mark" data-kind="danger">
              {t.paymentsLost(lost_payments)}
            </span>
          )}
        </span>
      </a>
    </li>
  )
}

/** The payouts that are due, if there are any. */
function Payouts() {
  const t = adminDeedTexts.value.orders
  const read = useAnswer('payouts.due', { everyMs: EVERY_MS })
  const [deed, begin] = useState<Deed | undefined>()
  const paid = ({ order_id, seller, price_usdt }: Payout): Deed => ({
    title: t.payoutTitle,
    text: t.payoutText(t.price(price_usdt), seller),
    action: t.payoutDo,
    reference: { label: t.reference, isNeeded: true },
    run: (why, reference) => ask('payouts.paid', { order_id, why, reference }),
  })
  if (read.value?.length === 0) return null
  return (
    <section class="admin-section">
      <h2>{t.payouts}</h2>
      <Answered read={read}>
        {(payouts) => (
          <ul class="items">
            {payouts.map((payout) => (
              <li key={payout.order_id} class="item">
                <span class="item-main">
                  <span>
                    {t.toSeller} <bdi class="code">{payout.seller}</bdi>
                  </span>
                  <span class="soft small">{t.due(fullTime(Date.parse(payout.due_at)))}</span>
                </span>
                <span class="item-end">
                  <span class="number">{t.price(payout.price_usdt)}</span>
                  {payout.is_held ? (
                    <span class="mark" data-kind="danger">
                      {t.held}
                    </span>
                  ) : (
                    <Button onClick={() => begin(paid(payout))}>{t.payoutDo}</Button>
                  )}
                </span>
              </li>
            ))}
          </ul>
        )}
      </Answered>
      {deed && <DeedDialog deed={deed} onClose={() => begin(undefined)} onDone={() => void read.reload()} />}
    </section>
  )
}
