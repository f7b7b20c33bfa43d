// One alias: its price, and the way to order it.
import { useSignal } from '@preact/signals'
import { ClientError, VanityShop } from '@sotto/client'
import { Button, ButtonLink } from '../../parts/button.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Screen } from '../../parts/screen.tsx'
import { Empty, Loading } from '../../parts/state.tsx'
import { notifyError } from '../../session/notices.ts'
import { goFromHere, href } from '../../session/route.ts'
import { useLoaded } from '../../session/use-loaded.ts'
import { useSession } from '../../session/use-session.ts'
import { numberOf } from '../../texts/dates.ts'
import { shopTexts } from '../../texts/shop.ts'

export function AliasOffer({ alias }: { readonly alias: string }) {
  const { client } = useSession()
  const shop = new VanityShop(client)
  const isBusy = useSignal(false)
  const hasPayments = useSignal(true)
  const t = shopTexts.value
  const offer = useLoaded(
    async () => ({ item: (await shop.search(alias)).find(({ alias_id }) => alias_id === alias) }),
    [alias],
  )
  const order = async (): Promise<void> => {
    const go = goFromHere()
    isBusy.value = true
    try {
      go(href('shop', 'orders', (await shop.purchase(alias)).order_id))
    } catch (error) {
      if (error instanceof ClientError && error.refusal === 'PAYMENTS_UNAVAILABLE') hasPayments.value = false
      else notifyError(error)
    }
    isBusy.value = false
  }
  const item = offer.value?.item
  return (
    <Screen title={t.aliasTitle} back={href('shop')}>
      {item ? (
        <div class="column">
          <div class="card shop-offer">
            <h2 class="code">{item.alias_id}</h2>
            <strong class="shop-amount number">{t.price(numberOf(item.price_usdt))}</strong>
            <p class="soft">{t.tiers[item.tier]}</p>
            <p>{t.aliasText}</p>
            {hasPayments.value ? (
              <>
                <Button kind="primary" isBusy={isBusy.value} onClick={order}>
                  {t.hold}
                </Button>
                <p class="soft small">{t.holdHint}</p>
              </>
            ) : (
              <p role="alert">{t.noPayments}</p>
            )}
          </div>
        </div>
      ) : offer.value ? (
        <Empty icon="shop" title={t.none} action={<ButtonLink href={href('shop')}>{t.toShop}</ButtonLink>}>
          {t.noneHint}
        </Empty>
      ) : offer.error === undefined ? (
        <Loading />
      ) : (
        <Failed error={offer.error} onRetry={offer.reload} />
      )}
    </Screen>
  )
}
