// A channel in a list.
import type { ChannelInfo } from '@sotto/client'
import { Avatar } from '../../parts/avatar.tsx'
import { Row } from '../../parts/row.tsx'
import { href } from '../../session/route.ts'
import { numberOf } from '../../texts/dates.ts'
import { shopTexts } from '../../texts/shop.ts'

export function ChannelRow({
  channel: { id, name, description, sale_price },
  isCurrent,
}: {
  readonly channel: ChannelInfo
  readonly isCurrent: boolean
}) {
  return (
    <Row
      lead={<Avatar name={name} seed={id} />}
      title={<bdi>{name}</bdi>}
      detail={description && <bdi>{description}</bdi>}
      end={
        sale_price !== undefined && (
          <span class="channels-price number">{shopTexts.value.price(numberOf(sale_price))}</span>
        )
      }
      href={href('channels', id)}
      isCurrent={isCurrent}
    />
  )
}
