// Being woken by the browser's push service while the app is closed.
import { Push } from '@sotto/client'
import { prefer, preferences } from './preferences.ts'
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

/** Asks the browser, and subscribes. Returns whether the user allowed it. @throws ClientError as `Push` */
export async function allowNotifications(session: Session): Promise<boolean> {
  if ((await Notification.requestPermission()) !== 'granted') return false
  await pushOf(session).subscribe(await navigator.serviceWorker.ready)
  prefer({ notifies: true })
  return true
}

/** Ends notifications in this browser. */
export async function endNotifications(session: Session): Promise<void> {
  prefer({ notifies: false })
  await pushOf(session).unsubscribe(await navigator.serviceWorker.ready)
}

/** Subscribes again if the user wants notifications: a browser or a changed key may have ended it. */
export async function renewNotifications(session: Session): Promise<void> {
  if (!preferences.value.notifies || !canNotify() || Notification.permission !== 'granted') return
  await pushOf(session).subscribe(await navigator.serviceWorker.ready)
}
