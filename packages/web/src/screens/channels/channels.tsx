// The user's channels, and the search for others.
import { useSignal } from '@preact/signals'
import { type ChannelInfo, Channels as ChannelsModule } from '@sotto/client'
import { ButtonLink, IconLink } from '../../parts/button.tsx'
import { Failed } from '../../parts/failed.tsx'
import { LongList } from '../../parts/long-list.tsx'
import { Screen } from '../../parts/screen.tsx'
import { SearchField } from '../../parts/search-field.tsx'
import { Empty, Loading } from '../../parts/state.tsx'
import { href, route } from '../../session/route.ts'
import { useLoaded } from '../../session/use-loaded.ts'
import { useSession } from '../../session/use-session.ts'
import { channelsTexts } from '../../texts/channels.ts'
import { texts } from '../../texts/texts.ts'
import { changes } from './changed.ts'
import { ChannelRow } from './channel-row.tsx'
import './channels.css'

export function Channels() {
  const { client } = useSession()
  const query = useSignal('')
  const t = channelsTexts.value
  return (
    <Screen
      title={t.title}
      actions={
        <>
          <IconLink icon="shop" label={texts.value.common.shop} href={href('shop')} />
          <IconLink icon="plus" label={t.create} href={href('channels', 'new')} />
        </>
      }
      top={<SearchField label={t.search} onSearch={(typed) => (query.value = typed)} />}
    >
      {query.value === '' ? (
        <Mine module={new ChannelsModule(client)} />
      ) : (
        <Found module={new ChannelsModule(client)} query={query.value} />
      )}
    </Screen>
  )
}

function Mine({ module }: { readonly module: ChannelsModule }) {
  const { identity } = useSession()
  const mine = useLoaded(() => module.mine(), [changes.value, identity.value?.uuid])
  const t = channelsTexts.value
  if (!mine.value)
    return mine.error === undefined ? <Loading /> : <Failed error={mine.error} onRetry={mine.reload} />
  const own = mine.value.filter(({ role }) => role === 'owner')
  const subscribed = mine.value.filter(({ role }) => role !== 'owner')
  if (mine.value.length === 0)
    return (
      <Empty
        icon="channels"
        title={t.empty}
        action={
          <ButtonLink kind="primary" icon="plus" href={href('channels', 'new')}>
            {t.create}
          </ButtonLink>
        }
      >
        {t.emptyHint}
      </Empty>
    )
  return (
    <>
      <Group title={t.own} list={own} />
      <Group title={t.subscribed} list={subscribed} />
    </>
  )
}

function Found({ module, query }: { readonly module: ChannelsModule; readonly query: string }) {
  const found = useLoaded(async () => ({ query, list: await module.search(query) }), [query])
  const t = channelsTexts.value
  if (found.error !== undefined) return <Failed error={found.error} onRetry={found.reload} />
  // What was found before stays while the next search runs.
  if (!found.value) return <Loading />
  if (found.value.list.length === 0)
    return (
      <Empty icon="search" title={t.nothingFound}>
        {t.nothingFoundHint}
      </Empty>
    )
  return <Group title={t.found(found.value.list.length)} list={found.value.list} />
}

function Group({ title, list }: { readonly title: string; readonly list: readonly ChannelInfo[] }) {
  const [, current] = route.value.path
  if (list.length === 0) return null
  return (
    <>
      <h2 class="channels-heading">{title}</h2>
      <LongList items={list} keyOf={(channel) => channel.id}>
        {(channel) => <ChannelRow channel={channel} isCurrent={channel.id === current} />}
      </LongList>
    </>
  )
}
