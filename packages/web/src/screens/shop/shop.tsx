// Aliases for sale: a selection, or those that begin with what is typed.
import { useSignal } from '@preact/signals'
import { type VanityItem, VanityShop } from '@sotto/client'
import { Failed } from '../../parts/failed.tsx'
import { Icon } from '../../parts/icon.tsx'
import { LongList } from '../../parts/long-list.tsx'
import { Row } from '../../parts/row.tsx'
import { Screen } from '../../parts/screen.tsx'
import { SearchField } from '../../parts/search-field.tsx'
import { Empty, Loading } from '../../parts/state.tsx'
import { href, route } from '../../session/route.ts'
import { useLoaded } from '../../session/use-loaded.ts'
import { useSession } from '../../session/use-session.ts'
import { numberOf } from '../../texts/dates.ts'
import { shopTexts } from '../../texts/shop.ts'
import './shop.css'

export function Shop() {
  const { client } = useSession()
  const query = useSignal('')
  const t = shopTexts.value
  const [, page] = route.value.path
  const items = useLoaded(
    async () => ({
      query: query.value,
      list: await new VanityShop(client).search(query.value || undefined),
    }),
    [query.value],
  )
  return (
    <Screen
      title={t.title}
      back={href('channels')}
      isBackNarrow
      top={
        <SearchField
          label={t.search}
          onSearch={(typed) => (query.value = typed.toLowerCase())}
          maxLength={64}
          isCode
        />
      }
    >
      <Row
        lead={
          <span class="shop-lead">
            <Icon name="clock" />
          </span>
        }
        title={t.orders}
        detail={t.ordersHint}
        href={href('shop', 'orders')}
        isCurrent={page === 'orders'}
      />
      {items.error !== undefined ? (
        <Failed error={items.error} onRetry={items.reload} />
      ) : !items.value ? (
        <Loading />
      ) : items.value.list.length === 0 ? (
        items.value.query === '' ? (
          <Empty icon="shop" title={t.empty} />
        ) : (
          <Empty icon="search" title={t.none}>
            {t.noneHint}
          </Empty>
        )
      ) : (
        <>
          <h2 class="shop-heading">{items.value.query === '' ? t.featured : t.results}</h2>
          <Items list={items.value.list} />
        </>
      )}
    </Screen>
  )
}

function Items({ list }: { readonly list: readonly VanityItem[] }) {
  const [, , current] = route.value.path
  const t = shopTexts.value
  return (
    <LongList items={list} keyOf={({ alias_id }) => alias_id}>
      {({ alias_id, price_usdt, tier, is_featured }) => (
        <Row
          title={<span class="code">{alias_id}</span>}
          detail={
            <span class="shop-tier" data-tier={tier}>
              {is_featured && <Icon name="star" />}
              {t.tiers[tier]}
            </span>
          }
          end={<span class="shop-price number">{t.price(numberOf(price_usdt))}</span>}
          href={href('shop', 'alias', alias_id)}
          isCurrent={current === alias_id}
        />
      )}
    </LongList>
  )
}
