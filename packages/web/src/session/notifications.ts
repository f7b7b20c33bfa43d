// Notifications: by the browser's push service while the app is closed, by the page while it is not seen.
import { ClientError, contentOf, Push, type StoredMessage } from '@sotto/client'
import { deviceTexts } from '../texts/device.ts'
import { now } from './clock.ts'
import { attempt } from './notices.ts'
import { preferences } from './preferences.ts'
import { go, href } from './route.ts'
import type { Session } from './session.ts'

/** How the tags of notifications of messages begin, also of those that a push has shown. */
const TAG = 'sotto-message'

const modules = new WeakMap<Session, Push>()

function pushOf(session: Session): Push {
  const push = modules.get(session) ?? new Push(session.client)
  modules.set(session, push)
  return push
}

/** Whether this browser can wake the app. */
export function canNotify(): boolean {
  return 'serviceWorker' in navigator && 'PushManager' in globalThis && 'Notification' in globalThis
}

/** Asks the browser. Returns whether the user allowed notifications. */
export async function askForNotifications(): Promise<boolean> {
  return (await Notification.requestPermission()) === 'granted'
}

/** Ends notifications in this browser. */
export async function endNotifications(session: Session): Promise<void> {
  await pushOf(session).unsubscribe(await navigator.serviceWorker.ready)
}

/**
 * Begins what the user has allowed, at each start: a browser or a changed key may have ended the
 * subscription. Returns whether the closed app is woken, too: without a push service, the page notifies while
 * it is open.
 * @throws ClientError as `Push.subscribe`
 */
export async function beginNotifications(session: Session): Promise<boolean> {
  if (!canNotify() || Notification.permission !== 'granted') return false
  tellOfMessages(session)
  try {
    await pushOf(session).subscribe(await navigator.serviceWorker.ready)
    return true
  } catch (error) {
    if (error instanceof ClientError && error.code === 'UNSUPPORTED') return false
    throw error
  }
}

const told = new WeakSet<Session>()

/**
 * Notifies of messages that come while the page is open and not seen. Only the page has decrypted them, so
 * only here a notification can name the sender. Tabs that notify of the same message replace each other.
 */
function tellOfMessages(session: Session): void {
  if (told.has(session)) return
  told.add(session)
  session.client.on('message', (message) => void attempt(() => tellOf(session, message)))
  navigator.serviceWorker.addEventListener('message', ({ data }) => {
    if (isOpening(data)) go(new URL(data.url).hash)
  })
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden) void attempt(closeAll)
  })
}

/** Whether the user has clicked a notification that names a place of the app. */
function isOpening(data: unknown): data is { readonly url: string } {
  return (
    typeof data === 'object' &&
    data !== null &&
    'type' in data &&
    data.type === 'sotto-open' &&
    'url' in data &&
    typeof data.url === 'string'
  )
}

/** The user looks at the app now. */
async function closeAll(): Promise<void> {
  const registration = await navigator.serviceWorker.ready
  for (const notification of await registration.getNotifications())
    if (notification.tag.startsWith(TAG)) notification.close()
}

async function tellOf(session: Session, message: StoredMessage): Promise<void> {
  const { notices } = preferences.value
  const from = session.conversations.value?.find((each) => each.conversationId === message.conversationId)
  if (notices === 'off' || !document.hidden || (from?.mutedUntil ?? 0) > now.value) return
  const device = deviceTexts.value
  const content = contentOf(message)
  const written = content?.kind === 'text' ? content.text : content && 'words' in content && content.words
  const name = from?.name ?? from?.nickname
  const registration = await navigator.serviceWorker.ready
  await registration.showNotification(notices === 'hidden' || !name ? device.noticeOfMessage : name, {
    body: notices === 'text' && written ? written.slice(0, 200) : '',
    icon: 'icons/sotto-192.png',
    badge: 'icons/badge.png',
    tag: `${TAG}-${message.conversationId}`,
    data: { url: new URL(href('chats', message.conversationId), location.href).href },
  })
}
