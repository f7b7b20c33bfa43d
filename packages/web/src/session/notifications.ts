// Notifications: by the browser's push service while the app is closed, by the page while it is not seen.
import { contentOf, Push, type StoredMessage } from '@sotto/client'
import { texts } from '../texts/texts.ts'
import { now } from './clock.ts'
import { attempt } from './notices.ts'
import { preferences } from './preferences.ts'
import type { Session } from './session.ts'

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
 * subscription. Without a push service, the page still notifies while it is open.
 * @throws ClientError as `Push.subscribe`
 */
export async function beginNotifications(session: Session): Promise<void> {
  if (!canNotify() || Notification.permission !== 'granted') return
  tellOfMessages(session)
  await pushOf(session).subscribe(await navigator.serviceWorker.ready)
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
}

async function tellOf(session: Session, message: StoredMessage): Promise<void> {
  const { notices } = preferences.value
  const from = session.conversations.value?.find((each) => each.conversationId === message.conversationId)
  if (notices === 'off' || !document.hidden || (from?.mutedUntil ?? 0) > now.value) return
  const { device } = texts.value
  const content = contentOf(message)
  const name = from?.name ?? from?.nickname
  const registration = await navigator.serviceWorker.ready
  await registration.showNotification(notices === 'hidden' || !name ? device.noticeOfMessage : name, {
    body: notices === 'text' && content?.kind === 'text' ? content.text.slice(0, 200) : '',
    icon: 'icons/sotto-192.png',
    badge: 'icons/badge.png',
    tag: `sotto-message-${message.conversationId}`,
  })
}
