// Starts the app: finds the relay, opens the account on this device, and shows it.
import { effect } from '@preact/signals'
import { type ComponentChildren, render } from 'preact'
import { App } from './app.tsx'
import { Empty } from './parts/state.tsx'
import { Update } from './screens/update/update.tsx'
import { RelayChoice } from './screens/welcome/relay-choice.tsx'
import { showBadge } from './session/app-badge.ts'
import { attempt, notify } from './session/notices.ts'
import { applyPreferences, prefer, preferences } from './session/preferences.ts'
import { findRelay } from './session/relay-address.ts'
import { route } from './session/route.ts'
import { Session } from './session/session.ts'
import { followUpdates } from './session/updates.ts'
import { SessionContext } from './session/use-session.ts'
import { explain } from './texts/explain.ts'
import { texts } from './texts/texts.ts'

const root = document.querySelector('#app') ?? document.body

function show(content: ComponentChildren): void {
  render(
    <>
      {content}
      <Update />
    </>,
    root,
  )
}

async function open(relayUrl: string): Promise<void> {
  try {
    const session = await Session.open(relayUrl)
    prefer({ relayUrl })
    showBadge(session)
    effect(() => {
      if (session.account.value === 'open') void renewNotifications(session)
    })
    show(
      <SessionContext.Provider value={session}>
        <App />
      </SessionContext.Provider>,
    )
  } catch (error) {
    show(
      <Empty icon="warning" title={texts.value.common.failedTitle}>
        {explain(error)}
      </Empty>,
    )
  }
}

/** Its part of the app is loaded only for those who want notifications. */
async function renewNotifications(session: Session): Promise<void> {
  if (preferences.peek().notices === 'off') return
  const notifications = await import('./session/notifications.ts')
  await attempt(() => notifications.beginNotifications(session))
}

async function start(): Promise<void> {
  await applyPreferences()
  followUpdates().catch(() => notify(texts.value.updates.onlineOnly))
  const relayUrl = await findRelay()
  if (relayUrl !== undefined) return open(relayUrl)
  show(<RelayChoice proposed={route.value.query.relay ?? ''} onChoose={(url) => void open(url)} />)
}

void start()
