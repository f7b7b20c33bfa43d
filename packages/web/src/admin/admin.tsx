// The admin page: which of its pages is shown, by the session and the address.
import type { ComponentType } from 'preact'
import { useEffect } from 'preact/hooks'
import { Button } from '../parts/button.tsx'
import { Icon, type IconName } from '../parts/icon.tsx'
import { Notices } from '../parts/notices.tsx'
import { Empty, Loading } from '../parts/state.tsx'
import { attempt, notices } from '../session/notices.ts'
import { href, route } from '../session/route.ts'
import { adminTexts } from '../texts/admin.ts'
import { AccountsPage } from './accounts-page.tsx'
import { Appearance } from './appearance.tsx'
import { ChannelsPage } from './channels-page.tsx'
import { ChartsPage } from './charts-page.tsx'
import { DeedsPage } from './deeds-page.tsx'
import { isLinkBad } from './entering.ts'
import { InvitesPage } from './invites-page.tsx'
import { LogPage } from './log-page.tsx'
import { OrdersPage } from './orders-page.tsx'
import { endSession, session } from './relay-commands.ts'
import { ReportsPage } from './reports-page.tsx'
import { SettingsPage } from './settings-page.tsx'
import { StatusPage } from './status-page.tsx'
import '../parts/screen.css'
import './admin.css'

const pages = {
  status: { icon: 'info', Page: StatusPage },
  charts: { icon: 'clock', Page: ChartsPage },
  accounts: { icon: 'contacts', Page: AccountsPage },
  channels: { icon: 'channels', Page: ChannelsPage },
  reports: { icon: 'warning', Page: ReportsPage },
  orders: { icon: 'shop', Page: OrdersPage },
  invites: { icon: 'link', Page: InvitesPage },
  deeds: { icon: 'shield', Page: DeedsPage },
  settings: { icon: 'settings', Page: SettingsPage },
  log: { icon: 'file', Page: LogPage },
} as const satisfies Record<string, { readonly icon: IconName; readonly Page: ComponentType }>

type PageName = keyof typeof pages

export function Admin() {
  const isOpen = session.value === 'open'
  return (
    <>
      {isOpen ? <Pages /> : session.value === 'none' ? <NoSession /> : <Loading />}
      <Notices
        list={notices.value}
        onDone={(id) => {
          notices.value = notices.value.filter((notice) => notice.id !== id)
        }}
      />
    </>
  )
}

function NoSession() {
  const t = adminTexts.value
  return (
    <main class="admin-alone">
      <Empty icon="key" title={isLinkBad.value ? t.linkBad : t.noSession} isAlone>
        {t.howToEnter} <code class="code">sotto admin</code>
      </Empty>
    </main>
  )
}

function Pages() {
  const t = adminTexts.value
  const [first = 'status'] = route.value.path
  const name: PageName = isPage(first) ? first : 'status'
  const { Page } = pages[name]
  useEffect(() => {
    document.title = `${t.pages[name]} – ${t.title}`
  }, [name, t])
  return (
    <div class="admin">
      <header class="admin-header">
        <p class="admin-title">{t.title}</p>
        <Button kind="quiet" onClick={() => void attempt(endSession)}>
          {t.leave}
        </Button>
        <Appearance />
      </header>
      <nav class="admin-navigation" aria-label={t.navigation}>
        {Object.entries(pages).map(([each, { icon }]) => (
          <a
            key={each}
            class="admin-link"
            href={href(each)}
            aria-current={each === name ? 'page' : undefined}
          >
            <Icon name={icon} />
            {isPage(each) && t.pages[each]}
          </a>
        ))}
      </nav>
      {/* It scrolls, so the keyboard has to reach it. */}
      <main class="admin-main" tabIndex={0}>
        <h1 class="admin-heading">{t.pages[name]}</h1>
        <Page key={name} />
      </main>
    </div>
  )
}

function isPage(name: string): name is PageName {
  return Object.hasOwn(pages, name)
}
