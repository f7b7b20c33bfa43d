// Starts the app: finds the relay, opens the account on this device, and shows it.
import { computed, effect } from '@preact/signals'
import { type ComponentChildren, render } from 'preact'
import { App } from './app.tsx'
import { Button } from './parts/button.tsx'
import { loadFocusKeeper } from './parts/focus.ts'
import { lazy } from './parts/lazy.tsx'
import { Empty } from './parts/state.tsx'
import { Update } from './screens/update/update.tsx'
import { showBadge } from './session/app-badge.ts'
import { lockWhenIdle } from './session/idle-lock.ts'
import { attempt, notify } from './session/notices.ts'
import { applyPreferences, prefer, preferences } from './session/preferences.ts'
import { findRelay } from './session/relay-address.ts'
import { route } from './session/route.ts'
import { Session } from './session/session.ts'
import { followUpdates } from './session/updates.ts'
import { SessionContext } from './session/use-session.ts'
import { explain } from './texts/explain.ts'
import { loadTexts, texts } from './texts/texts.ts'

const RelayChoice = lazy(async () => (await import('./screens/welcome/relay-choice.tsx')).RelayChoice)

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
    const lockAfterMinutes = computed(() => preferences.value.lockAfterMinutes)
    effect(() => {
      const isLockable = session.account.value === 'open' && session.hasPassphrase.value
      if (!isLockable || lockAfterMinutes.value === 0) return
      const lock = (): void => void attempt(() => session.client.lock())
      return lockWhenIdle(lockAfterMinutes.value * 60_000, lock)
    })
    show(
      <SessionContext.Provider value={session}>
        <App />
      </SessionContext.Provider>,
    )
  } catch (error) {
    show(
      <main class="welcome">
        <Empty
          icon="warning"
          title={texts.value.common.failedTitle}
          isAlone
          action={<Button onClick={() => location.reload()}>{texts.value.common.tryAgain}</Button>}
        >
          {explain(error)}
        </Empty>
      </main>,
    )
  }
}

/** Begins notifications. Their part of the app is loaded only if the user wants them. */
async function renewNotifications(session: Session): Promise<void> {
  if (preferences.peek().notices === 'off') return
  const notifications = await import('./session/notifications.ts')
  await loadTexts()
  await attempt(() => notifications.beginNotifications(session))
}

/** The styles for people who see the colours of their system only. Nobody else loads them. */
function followForcedColors(): void {
  const forced = matchMedia('(forced-colors: active)')
  const load = (): void => {
    if (forced.matches) void attempt(() => import('./styles/forced-colors.css'))
  }
  load()
  forced.addEventListener('change', load)
}

async function start(): Promise<void> {
  // Those who use the keyboard need it at once. The others get it with the calls.
  const onKey = ({ key }: KeyboardEvent): void => {
    if (key === 'Tab') loadFocusKeeper()
  }
  addEventListener('keydown', onKey)
  followForcedColors()
  await applyPreferences()
  followUpdates().catch(() => notify(texts.value.updates.onlineOnly))
  const relayUrl = await findRelay()
  if (relayUrl !== undefined) return open(relayUrl)
  show(<RelayChoice proposed={route.value.query.relay ?? ''} onChoose={(url) => void open(url)} />)
}

void start()
