// Offers a channel for sale, changes its price, and ends the offer.
import { useSignal } from '@preact/signals'
import type { ChannelInfo } from '@sotto/client'
import { Button } from '../../parts/button.tsx'
import { TextField } from '../../parts/field.tsx'
import { Form, SubmitButton } from '../../parts/form.tsx'
import { whileBusy } from '../../parts/while-busy.ts'
import { channelsTexts } from '../../texts/channels.ts'
import { numberOf } from '../../texts/dates.ts'

const MOST = 1_000_000_000

interface SellChannelProps {
  readonly channel: ChannelInfo
  readonly onOffer: (price: number) => Promise<void>
  readonly onUnlist: () => Promise<void>
}

export function SellChannel({ channel: { sale_price }, onOffer, onUnlist }: SellChannelProps) {
  const typed = useSignal(sale_price === undefined ? '' : String(sale_price))
  const isBusy = useSignal(false)
  const t = channelsTexts.value
  const price = /^[1-9][0-9]{0,9}$/.test(typed.value.trim()) ? Number(typed.value) : 0
  const isPrice = price > 0 && price <= MOST
  return (
    <Form class="card" busy={isBusy} onSubmit={() => onOffer(price)}>
      <h2>{t.sell}</h2>
      <p>{sale_price === undefined ? t.sellText : t.forSale(numberOf(sale_price))}</p>
      <TextField
        label={t.price}
        value={typed.value}
        onInput={(value) => (typed.value = value)}
        error={typed.value !== '' && !isPrice ? t.priceWrong : undefined}
        hint={t.priceHint}
        inputMode="numeric"
        autocomplete="off"
        isCode
      />
      <div class="channels-buttons">
        <SubmitButton isDisabled={!isPrice || price === sale_price}>
          {sale_price === undefined ? t.offer : t.changePrice}
        </SubmitButton>
        {sale_price !== undefined && (
          <Button isDisabled={isBusy.value} onClick={() => whileBusy(isBusy, onUnlist)}>
            {t.unlist}
          </Button>
        )}
      </div>
    </Form>
  )
}
