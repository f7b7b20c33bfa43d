// The app: which screen is shown, by the state of the account and the address.
import type { ComponentType } from 'preact'
import { useEffect, useLayoutEffect, useState } from 'preact/hooks'
import { Badge } from './parts/badge.tsx'
import { ButtonLink } from './parts/button.tsx'
import { loadFocusKeeper } from './parts/focus.ts'
import { Icon, type IconName } from './parts/icon.tsx'
import { lazy } from './parts/lazy.tsx'
import { Notices } from './parts/notices.tsx'
import { Empty } from './parts/state.tsx'
import { loadLongLists } from './parts/virtual-list.ts'
import { Announcements } from './screens/announcements.tsx'
import { Chats } from './screens/chats/chats.tsx'
import { ConnectionBar } from './screens/connection-bar.tsx'
import { Conversation } from './screens/conversation/conversation.tsx'
import { beginOpening } from './screens/conversation/opening.ts'
import { KeysBar } from './screens/keys-bar.tsx'
import { Shortcuts } from './screens/shortcuts/shortcuts.tsx'
import { NewPhrase } from './screens/welcome/new-phrase.tsx'
import { Welcome } from './screens/welcome/welcome.tsx'
import { isStoreBroken, notices, suspension } from './session/notices.ts'
import { preferences } from './session/preferences.ts'
import { reporting } from './session/reporting.ts'
import { go, href, route } from './session/route.ts'
import { secrecyStops } from './session/secrecy-stops.ts'
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

const Lock = lazy(async () => (await import('./screens/lock/lock.tsx')).Lock)
const Contacts = lazy(async () => (await import('./screens/contacts/contacts.tsx')).Contacts)
const ContactDetail = lazy(async () => (await import('./screens/contacts/contact-detail.tsx')).ContactDetail)
const Invitation = lazy(async () => (await import('./screens/invitation/invitation.tsx')).Invitation)
const InvitationNote = lazy(
  async () => (await import('./screens/invitation/invitation-note.tsx')).InvitationNote,
  () => null,
)
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

const ReplacedBar = lazy(
  async () => (await import('./screens/replaced-bar.tsx')).ReplacedBar,
  () => null,
)

const ReportDialog = lazy(
  async () => (await import('./screens/report/report-dialog.tsx')).ReportDialog,
  () => null,
)

const SuspensionBar = lazy(
  async () => (await import('./screens/suspension-bar.tsx')).SuspensionBar,
  () => null,
)

const SecrecyBar = lazy(
  async () => (await import('./screens/secrecy-bar.tsx')).SecrecyBar,
  () => null,
)

const StoreBar = lazy(
  async () => (await import('./screens/store-bar.tsx')).StoreBar,
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
        <Welcome note={isInvitation(route.value.path[0]) && <InvitationNote />} />
      ) : account.value === 'locked' ? (
        <Lock />
      ) : preferences.value.isPhraseUnconfirmed ? (
        <NewPhrase />
      ) : (
        <>
          <Panes />
          <CallsOnceTalking />
        </>
      )}
      <Notices
        list={notices.value}
        onDone={(id) => (notices.value = notices.value.filter((notice) => notice.id !== id))}
      />
    </>
  )
}

/** Loads calls and the search once the user talks to somebody. The client keeps a call that comes before. */
function CallsOnceTalking() {
  const session = useSession()
  const [isWanted, setWanted] = useState(false)
  const isReady = session.isTalking.value && session.network.value === 'connected'
  useEffect(() => {
    if (!isReady) return
    setWanted(true)
    // The search makes its index. If it cannot be loaded, its screen says so.
    session.later().catch(() => undefined)
    loadFocusKeeper()
    void loadLongLists()
  }, [isReady])
  return isWanted ? <CallLayer /> : null
}

function Panes() {
  const session = useSession()
  const [first = 'chats', id] = route.value.path
  const isInvited = isInvitation(first)
  const name: DestinationName = isInvited ? 'contacts' : isDestination(first) ? first : 'chats'
  const { List, Detail } = destinations[name]
  useLayoutEffect(() => {
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
    <div class="app" data-open={isInvited || id !== undefined}>
      <div class="app-main">
        <div class="app-bars">
          {isStoreBroken.value && <StoreBar />}
          {session.isReplaced.value && <ReplacedBar />}
          <KeysBar />
          {secrecyStops.value.size > 0 && <SecrecyBar />}
          {suspension.value && <SuspensionBar error={suspension.value} />}
          <ConnectionBar />
        </div>
        <main class="app-panes">
          <div class="app-pane app-list" onPointerDown={({ target }) => beginOpening(session, target)}>
            <List />
          </div>
          <div class="app-pane app-detail">
            {isInvited ? (
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
      {reporting.value && <ReportDialog about={reporting.value} />}
      <Announcements />
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
  const missed = session.missedCalls.value.length
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
          {name === 'calls' && missed > 0 && <Badge count={missed} label={t.missed(missed)} />}
        </a>
      ))}
    </nav>
  )
}

/** Whether an address invites somebody: to become a contact, or to this relay. */
function isInvitation(first: string | undefined): boolean {
  return first === 'add' || first === 'invite'
}

function isDestination(name: string): name is DestinationName {
  return Object.hasOwn(destinations, name)
}
