// One order with its payments and events, and what the operator can record about it.
import { Button } from '../parts/button.tsx'
import { adminDeedTexts } from '../texts/admin-deeds.ts'
import { dateAndTime, fullTime } from '../texts/dates.ts'
import type { OrderDetail, Payment } from './answers.ts'
import type { Deed } from './deed-dialog.tsx'
import { Fact } from './fact.tsx'
import { ItemPage } from './item-page.tsx'
import { AdminError, ask } from './relay-commands.ts'
import { useAnswer } from './use-answer.ts'

export function OrderPage({ id }: { readonly id: string }) {
  const read = useAnswer('orders.show', { input: { order_id: id } })
  return (
    <ItemPage list="orders" id={id} read={read}>
      {(detail, begin) => <Order detail={detail} onDeed={begin} />}
    </ItemPage>
  )
}

interface OrderProps {
  readonly detail: OrderDetail
  readonly onDeed: (deed: Deed) => void
}

function Order({ detail: { order, payments, payout, events }, onDeed }: OrderProps) {
  const t = adminDeedTexts.value.orders
  const { order_id } = order
  const confirm: Deed = {
    title: t.confirmTitle,
    text: t.confirmText(t.price(order.price_usdt)),
    action: t.confirmDo,
    reference: { label: t.reference, isNeeded: false },
    run: async (why, reference) => {
      const input = { order_id, why, ...(reference === '' ? {} : { reference }) }
      const { status } = await ask('orders.confirm', input)
      if (status !== 'confirmed') throw new AdminError(200, t.notConfirmed)
    },
  }
  const settle: Deed = {
    title: t.settleTitle,
    text: t.settleText,
    action: t.settleDo,
    run: (why) => ask('orders.settle-lost', { order_id, why }),
  }
  return (
    <>
      <section class="card">
        <h2>
          {t.kinds[order.kind]} <bdi class="code">{order.ref_id}</bdi>
        </h2>
        <dl class="admin-figures">
          <Fact name={t.state}>{t.states[order.status]}</Fact>
          <Fact name={t.priceName}>{t.price(order.price_usdt)}</Fact>
          <Fact name={t.buyer}>
            {order.buyer === null ? t.nobodyYet : <bdi class="code">{order.buyer}</bdi>}
          </Fact>
          <Fact name={t.number}>
            <bdi class="code">{order_id}</bdi>
          </Fact>
          <Fact name={t.payTo}>
            <bdi class="code">{order.pay_to === '' ? '–' : order.pay_to}</bdi>
          </Fact>
          <Fact name={t.made}>{fullTime(Date.parse(order.created_at))}</Fact>
          <Fact name={t.ends}>{fullTime(Date.parse(order.expires_at))}</Fact>
          {payout && (
            <Fact name={t.payoutOf}>
              {payout.paid_at === null ? t.due(fullTime(Date.parse(payout.due_at))) : t.payoutPaid}
            </Fact>
          )}
        </dl>
        <div class="item-end">
          {order.status !== 'confirmed' && <Button onClick={() => onDeed(confirm)}>{t.confirmDo}</Button>}
          {order.lost_payments > 0 && <Button onClick={() => onDeed(settle)}>{t.settleDo}</Button>}
        </div>
      </section>
      <section class="admin-section">
        <h2>{t.payments}</h2>
        {payments.length === 0 ? (
          <p class="soft">{t.noPayments}</p>
        ) : (
          <ul class="items">
            {payments.map((payment) => (
              <PaymentItem key={payment.reference} payment={payment} onDeed={onDeed} />
            ))}
          </ul>
        )}
      </section>
      <section class="admin-section">
        <h2>{t.events}</h2>
        {events.length === 0 ? (
          <p class="soft">{t.noEvents}</p>
        ) : (
          <ul class="items">
            {events.map(({ at, who, what, why }) => (
              <li key={`${at} ${what}`} class="item">
                <span class="item-main">
                  <bdi>{what}</bdi>
                  {why !== '' && <bdi>{why}</bdi>}
                  <span class="soft small">
                    {dateAndTime(Date.parse(at))} · <bdi>{who}</bdi>
                  </span>
                </span>
              </li>
            ))}
          </ul>
        )}
      </section>
    </>
  )
}

function PaymentItem({
  payment,
  onDeed,
}: {
  readonly payment: Payment
  readonly onDeed: OrderProps['onDeed']
}) {
  const t = adminDeedTexts.value.orders
  const { reference, asset, amount, at, state, refund_amount, refunded_at, reason, lost } = payment
  const isRefundDue = refund_amount !== null && refunded_at === null
  const refund: Deed = {
    title: t.refundTitle,
    text: t.refundText,
    action: t.refundDo,
    reference: { label: t.reference, isNeeded: true },
    run: (why, given) => ask('orders.refund-recorded', { payment: reference, reference: given, why }),
  }
  return (
    <li class="item">
      <span class="item-main">
        <bdi class="code">{reference}</bdi>
        <span class="soft small">
          {dateAndTime(Date.parse(at))} · <bdi class="code">{`${amount} ${asset}`}</bdi>
        </span>
        {reason !== null && <bdi class="soft small code">{reason}</bdi>}
      </span>
      <span class="item-end">
        <span class="mark">{lost === null || lost === 'settled' ? t.paymentStates[state] : t.lost}</span>
        {refunded_at !== null && <span class="mark">{t.refunded}</span>}
        {isRefundDue && <Button onClick={() => onDeed(refund)}>{t.refundDo}</Button>}
      </span>
    </li>
  )
}
