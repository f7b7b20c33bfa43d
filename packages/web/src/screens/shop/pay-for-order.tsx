// How to pay for an order, and how long it is held.
import type { OwnOrder } from '@sotto/client'
import { useEffect, useState } from 'preact/hooks'
import { Button } from '../../parts/button.tsx'
import { Choice } from '../../parts/choice.tsx'
import { nowMs } from '../../session/clock.ts'
import { fullTime } from '../../texts/dates.ts'
import { shopTexts } from '../../texts/shop.ts'
import { texts } from '../../texts/texts.ts'
import { foreignHost, pageOf, remainingMs } from './orders.ts'
import { isLong, timeLeftOf } from './time-left.ts'

export interface PayForOrderProps {
  readonly order: OwnOrder
  /** All orders, as the relay told them. */
  readonly orders: readonly OwnOrder[]
  readonly relayUrl: string
  readonly onChoose: (method: string) => void
  readonly onCopy: (payTo: string) => void
  readonly onTimeIsUp: () => void
}

export function PayForOrder(props: PayForOrderProps) {
  const { order, relayUrl, onChoose, onCopy } = props
  const { method, methods = [], pay_to } = order
  const page = pageOf(order)
  const t = shopTexts.value
  const host = page === undefined ? undefined : foreignHost(page, relayUrl)
  return (
    <>
      <Countdown {...props} />
      {methods.length > 1 && (
        <Choice
          label={t.method}
          value={method ?? ''}
          onChange={onChoose}
          options={methods.map((each) => ({ value: each.method, label: t.by(each.symbol, each.network) }))}
        />
      )}
      {page !== undefined && (
        <>
          <a class="button button-primary" href={page} target="_blank" rel="noopener noreferrer">
            {t.pay}
          </a>
          <p class={host === undefined ? 'soft small' : 'shop-elsewhere'}>
            {host === undefined ? t.payHint : t.payElsewhere(host)}
          </p>
        </>
      )}
      {pay_to !== '' && (
        <div class="shop-address">
          <p class="small">
            <span class="soft">{t.payTo}</span>{' '}
            {/\s/.test(pay_to) ? <bdi>{pay_to}</bdi> : <span class="code">{pay_to}</span>}
          </p>
          <Button icon="copy" onClick={() => onCopy(pay_to)}>
            {texts.value.common.copy}
          </Button>
        </div>
      )}
    </>
  )
}

/** Counts down, and says once that the time is over. */
function Countdown({ order, orders, onTimeIsUp }: PayForOrderProps) {
  // The relay told the orders a moment before: the clock goes on from there.
  const [startMs] = useState(nowMs)
  const [time, setTime] = useState(startMs)
  const startedMs = remainingMs(order, startMs, orders)
  const leftMs = Math.max(0, startedMs - (time - startMs))
  const isOver = leftMs === 0
  useEffect(() => {
    if (isOver) {
      onTimeIsUp()
      return
    }
    const timer = setInterval(() => setTime(nowMs()), 1000)
    return () => clearInterval(timer)
  }, [isOver])
  const t = shopTexts.value
  if (isOver) return <p class="soft">{t.timeIsUp}</p>
  return (
    <p>
      {t.remaining} <strong class="number">{timeLeftOf(leftMs)}</strong>
      {isLong(leftMs) && <span class="soft"> ({t.until(fullTime(Date.parse(order.expired_at)))})</span>}
    </p>
  )
}
