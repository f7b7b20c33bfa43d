// The service worker's part of push: shows a notification with the app's text, and opens the app on a click.
// It knows no identity, no key and no message. A push tells it only that there is a message or a call.

/** A received push. */
export interface Pushed {
  readonly type: 'message' | 'call'
  /** Whether a page of the app is visible, which can inform the user itself. */
  readonly hasVisiblePage: boolean
}

/** A notification with the app's text. */
export interface PushNotice {
  readonly title: string
  readonly body?: string
  /** The address of an image. */
  readonly icon?: string
  /** The address of a small image of one colour, for the status bar. */
  readonly badge?: string
}

/**
 * Makes the notification for a push; it may read its words first. Undefined shows none, which browsers accept
 * only while a page is visible.
 */
export type PushWords = (pushed: Pushed) => PushNotice | undefined | Promise<PushNotice | undefined>

/**
 * Shows a notification for every push. The app's service worker has to call it when it starts, not later:
 *
 *     import { showPushes } from '@sotto/client/push-worker'
 *     showPushes(({ type }) => ({ title: type === 'call' ? 'Somebody calls' : 'New messages' }))
 *
 * A notification replaces an earlier one of the same type. A click brings a page of the app to the front, or
 * opens `page`.
 *
 * A click on a notification that a page of the app has shown with `data: { url }` leads to that address: an
 * open page comes to the front and gets the message `{ type: 'sotto-open', url }`, otherwise `url` is opened.
 *
 * If the browser itself ends or changes its subscription (`pushsubscriptionchange`), pushes stop until a page
 * of the app calls `Push.subscribe`. Only the account can register the new subscription, and the worker
 * cannot log in.
 * @param options.page the address to open if no page is open; `/` by default
 */
export function showPushes(words: PushWords, { page = '/' }: { readonly page?: string } = {}): void {
  const scope: unknown = globalThis
  if (!isWorker(scope)) throw new TypeError('pushes come to service workers only')
  const pages = (): Promise<readonly Page[]> =>
    scope.clients.matchAll({ type: 'window', includeUncontrolled: true })

  const show = async (type: Pushed['type']): Promise<void> => {
    const hasVisiblePage = (await pages()).some(({ visibilityState }) => visibilityState === 'visible')
    const notice = await words({ type, hasVisiblePage })
    if (!notice) return
    const { title, ...options } = notice
    await scope.registration.showNotification(title, { ...options, tag: `sotto-${type}`, renotify: true })
  }
  const open = async (url: string | undefined): Promise<void> => {
    const [first] = await pages()
    if (!first) {
      await scope.clients.openWindow(url ?? page)
      return
    }
    if (url !== undefined) first.postMessage({ type: 'sotto-open', url })
    await first.focus()
  }
  scope.addEventListener('push', (event) => {
    event.waitUntil?.(show(typeOf(event)))
  })
  scope.addEventListener('notificationclick', (event) => {
    event.notification?.close()
    event.waitUntil?.(open(urlOf(event)))
  })
}

// An unknown push counts as a message: the browser requires a notification.
function typeOf({ data }: WorkerEvent): Pushed['type'] {
  return /"type"\s*:\s*"call"/.test(data?.text() ?? '') ? 'call' : 'message'
}

// Notifications that a push has shown have no data.
function urlOf({ notification }: WorkerEvent): string | undefined {
  const data = notification?.data
  const isNamed = typeof data === 'object' && data !== null && 'url' in data
  return isNamed && typeof data.url === 'string' ? data.url : undefined
}

// TypeScript declares these names in the library for workers, which cannot be combined with the library for
// pages.
interface Page {
  readonly visibilityState: string
  focus(): Promise<unknown>
  postMessage(message: unknown): void
}
interface WorkerEvent {
  readonly data?: { text(): string } | null
  readonly notification?: { readonly data?: unknown; close(): void }
  waitUntil?(work: Promise<void>): void
}
interface Worker {
  readonly registration: { showNotification(title: string, options: object): Promise<void> }
  readonly clients: {
    matchAll(options: object): Promise<readonly Page[]>
    openWindow(url: string): Promise<unknown>
  }
  addEventListener(type: string, listener: (event: WorkerEvent) => void): void
}

function isWorker(scope: unknown): scope is Worker {
  return typeof scope === 'object' && scope !== null && 'registration' in scope && 'clients' in scope
}
