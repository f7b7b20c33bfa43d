// Offers a channel for sale, changes its price, and ends the offer.
import { useSignal } from '@preact/signals'
import type { ChannelInfo } from '@sotto/client'
import { Button } from '../../parts/button.tsx'
import { TextField } from '../../parts/field.tsx'
import { numberOf } from '../../texts/dates.ts'
import { texts } from '../../texts/texts.ts'

const MOST = 1_000_000_000

interface SellChannelProps {
  readonly channel: ChannelInfo
  readonly onOffer: (price: number) => Promise<void>
  readonly onUnlist: () => Promise<void>
}

export function SellChannel({ channel: { sale_price }, onOffer, onUnlist }: SellChannelProps) {
  const typed = useSignal(sale_price === undefined ? '' : String(sale_price))
  const isBusy = useSignal(false)
  const t = texts.value.channels
  const price = /^[1-9][0-9]{0,9}$/.test(typed.value.trim()) ? Number(typed.value) : 0
  const isPrice = price > 0 && price <= MOST
  const run = async (work: () => Promise<void>): Promise<void> => {
    isBusy.value = true
    await work()
    isBusy.value = false
  }
  return (
    <form
      class="card"
      onSubmit={(event) => {
        event.preventDefault()
        void run(() => onOffer(price))
      }}
    >
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
        <Button isSubmit isBusy={isBusy.value} isDisabled={!isPrice || price === sale_price}>
          {sale_price === undefined ? t.offer : t.changePrice}
        </Button>
        {sale_price !== undefined && (
          <Button isDisabled={isBusy.value} onClick={() => run(onUnlist)}>
            {t.unlist}
          </Button>
        )}
      </div>
    </form>
  )
}
