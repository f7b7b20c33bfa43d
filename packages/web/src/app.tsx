// The app: which screen is shown, by the state of the account and the address.
import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Badge } from './parts/badge.tsx'
import { ButtonLink } from './parts/button.tsx'
import { Icon, type IconName } from './parts/icon.tsx'
import { lazy } from './parts/lazy.tsx'
import { Notices } from './parts/notices.tsx'
import { Empty } from './parts/state.tsx'
import { Chats } from './screens/chats/chats.tsx'
import { Conversation } from './screens/conversation/conversation.tsx'
import { InvitationNote } from './screens/invitation/invitation-note.tsx'
import { KeysBar } from './screens/keys-bar.tsx'
import { Lock } from './screens/lock/lock.tsx'
import { ReplacedBar } from './screens/replaced-bar.tsx'
import { Shortcuts } from './screens/shortcuts/shortcuts.tsx'
import { NewPhrase } from './screens/welcome/new-phrase.tsx'
import { Welcome } from './screens/welcome/welcome.tsx'
import { notices } from './session/notices.ts'
import { preferences } from './session/preferences.ts'
import { go, href, route } from './session/route.ts'
import { useSession } from './session/use-session.ts'
import { texts } from './texts/texts.ts'
import './screens/app.css'

/** A destination: what its list pane shows, and what its other pane shows for the rest of the path. */
interface Destination {
  readonly icon: IconName
  readonly List: ComponentType
  readonly Detail: ComponentType<{ readonly id: string }>
  /** Reached from another destination on narrow screens. */
  readonly isBeneath?: true
  /** Reached from another destination on every screen. */
  readonly isUnlisted?: true
}

const Contacts = lazy(async () => (await import('./screens/contacts/contacts.tsx')).Contacts)
const ContactDetail = lazy(async () => (await import('./screens/contacts/contact-detail.tsx')).ContactDetail)
const Invitation = lazy(async () => (await import('./screens/invitation/invitation.tsx')).Invitation)
const Search = lazy(async () => (await import('./screens/search/search.tsx')).Search)
const Channels = lazy(async () => (await import('./screens/channels/channels.tsx')).Channels)
const ChannelDetail = lazy(async () => (await import('./screens/channels/channel-detail.tsx')).ChannelDetail)
const Shop = lazy(async () => (await import('./screens/shop/shop.tsx')).Shop)
const ShopDetail = lazy(async () => (await import('./screens/shop/shop-detail.tsx')).ShopDetail)
const Settings = lazy(async () => (await import('./screens/settings/settings.tsx')).Settings)
const SettingsDetail = lazy(
  async () => (await import('./screens/settings/settings-detail.tsx')).SettingsDetail,
)

const Calls = lazy(async () => (await import('./screens/calls/calls.tsx')).Calls)
const CallDetail = lazy(async () => (await import('./screens/calls/call-detail.tsx')).CallDetail)
const CallLayer = lazy(
  async () => (await import('./screens/calls/call-layer.tsx')).CallLayer,
  () => null,
)

const destinations = {
  chats: { icon: 'chats', List: Chats, Detail: Conversation },
  contacts: { icon: 'contacts', List: Contacts, Detail: ContactDetail },
  channels: { icon: 'channels', List: Channels, Detail: ChannelDetail },
  search: { icon: 'search', List: Search, Detail: Conversation, isUnlisted: true },
  calls: { icon: 'call', List: Calls, Detail: CallDetail, isBeneath: true },
  shop: { icon: 'shop', List: Shop, Detail: ShopDetail, isBeneath: true },
  settings: { icon: 'settings', List: Settings, Detail: SettingsDetail },
} as const satisfies Record<string, Destination>

type DestinationName = keyof typeof destinations

export function App() {
  const { account } = useSession()
  return (
    <>
      {account.value === 'none' ? (
        <Welcome note={<InvitationNote />} />
      ) : account.value === 'locked' ? (
        <Lock />
      ) : preferences.value.isPhraseUnconfirmed ? (
        <NewPhrase />
      ) : (
        <>
          <Panes />
          <CallsOnceConnected />
        </>
      )}
      <Notices
        list={notices.value}
        onDone={(id) => (notices.value = notices.value.filter((notice) => notice.id !== id))}
      />
    </>
  )
}

/** Calls are loaded after what everyone needs. One that comes earlier is kept by the client. */
function CallsOnceConnected() {
  const { network } = useSession()
  const [isWanted, setWanted] = useState(false)
  const isConnected = network.value === 'connected'
  useEffect(() => {
    if (isConnected) setWanted(true)
  }, [isConnected])
  return isWanted ? <CallLayer /> : null
}

function Panes() {
  const [first = 'chats', id] = route.value.path
  const isInvitation = first === 'add'
  const name: DestinationName = isInvitation ? 'contacts' : isDestination(first) ? first : 'chats'
  const { List, Detail } = destinations[name]
  useEffect(() => {
    // What is above the page handles Escape first, and so do fields that have something to close.
    const onKey = (event: KeyboardEvent): void => {
      if (
        event.key !== 'Escape' ||
        event.defaultPrevented ||
        document.querySelector(':popover-open, dialog:modal')
      )
        return
      go(href(name))
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [name])
  return (
    <div class="app" data-open={isInvitation || id !== undefined}>
      <div class="app-main">
        <ReplacedBar />
        <KeysBar />
        <main class="app-panes">
          <div class="app-pane app-list">
            <List />
          </div>
          <div class="app-pane app-detail">
            {isInvitation ? (
              <Invitation />
            ) : id === undefined ? (
              <NothingOpen name={name} />
            ) : (
              <Detail key={`${name} ${id}`} id={id} />
            )}
          </div>
        </main>
      </div>
      <Navigation current={name} />
      <Shortcuts />
    </div>
  )
}

function NothingOpen({ name }: { readonly name: DestinationName }) {
  const t = texts.value.chats
  if (name !== 'chats')
    return <Empty icon={destinations[name].icon} title={texts.value.common.chooseFromList} />
  return (
    <Empty
      icon="chats"
      title={t.choose}
      action={
        <ButtonLink icon="plus" href={href('contacts', 'add')}>
          {t.addContact}
        </ButtonLink>
      }
    >
      {t.chooseHint}
    </Empty>
  )
}

function Navigation({ current }: { readonly current: DestinationName }) {
  const session = useSession()
  const t = texts.value.common
  const unread = (session.conversations.value ?? []).filter(
    (each) => each.unread > 0 && !each.archived,
  ).length
  const entries: readonly (readonly [DestinationName, Destination])[] = Object.entries(destinations).flatMap(
    ([name, destination]: readonly [string, Destination]) =>
      isDestination(name) && !destination.isUnlisted ? [[name, destination] as const] : [],
  )
  return (
    <nav class="app-navigation" aria-label={t.destinations}>
      {entries.map(([name, { icon, isBeneath }]) => (
        <a
          key={name}
          class="app-destination"
          href={href(name)}
          aria-current={name === current ? 'page' : undefined}
          data-beneath={isBeneath ?? false}
        >
          <Icon name={icon} />
          {t[name]}
          {name === 'chats' && unread > 0 && <Badge count={unread} label={t.unread(unread)} />}
        </a>
      ))}
    </nav>
  )
}

function isDestination(name: string): name is DestinationName {
  return Object.hasOwn(destinations, name)
}
