// Shows one order by its state.
import { Button, ButtonLink } from '../../parts/button.tsx'
import { href } from '../../session/route.ts'
import { channelsTexts } from '../../texts/channels.ts'
import { fullTime, numberOf } from '../../texts/dates.ts'
import { shopTexts } from '../../texts/shop.ts'
import { PayForOrder, type PayForOrderProps } from './pay-for-order.tsx'

interface OrderCardProps extends PayForOrderProps {
  readonly isBusy: boolean
  readonly onBind: () => void
}

export function OrderCard(props: OrderCardProps) {
  const { kind, ref_id, status, price_usdt, created_at, order_id, is_bound } = props.order
  const t = shopTexts.value
  return (
    <div class="card shop-offer">
      <p class="soft">{t.kinds[kind]}</p>
      {kind !== 'quota' && <h2 class="code">{ref_id}</h2>}
      <strong class="shop-amount number">{t.price(numberOf(price_usdt))}</strong>
      <p class="shop-state" data-state={status} role="status">
        {is_bound ? t.bound : t.states[status]}
      </p>
      {status === 'pending' && <PayForOrder {...props} />}
      {status === 'confirmed' && <Bought {...props} />}
      {status === 'expired' && (
        <>
          <p>{t.expiredText}</p>
          {kind !== 'quota' && (
            <ButtonLink href={kind === 'channel' ? href('channels', ref_id) : href('shop', 'alias', ref_id)}>
              {t.again}
            </ButtonLink>
          )}
        </>
      )}
      <p class="soft small">
        {t.orderNumber} <span class="code">{order_id}</span>
      </p>
      <p class="soft small">{fullTime(Date.parse(created_at))}</p>
    </div>
  )
}

/** What a paid order brought, and what is next. */
function Bought({ order: { kind, ref_id, is_bound }, isBusy, onBind }: OrderCardProps) {
  const t = shopTexts.value
  if (kind === 'channel')
    return (
      <>
        <p>{t.channelPaid}</p>
        <ButtonLink kind="primary" href={href('channels', ref_id)}>
          {t.openChannel}
        </ButtonLink>
      </>
    )
  if (kind === 'quota')
    return (
      <>
        <p>{t.seatPaid}</p>
        <ButtonLink kind="primary" href={href('channels', 'new')}>
          {channelsTexts.value.create}
        </ButtonLink>
      </>
    )
  if (is_bound) return null
  return (
    <>
      <p>{t.bindText(ref_id)}</p>
      <Button kind="primary" isBusy={isBusy} onClick={onBind}>
        {t.bind}
      </Button>
    </>
  )
}
