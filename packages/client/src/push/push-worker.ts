// What a service worker does when it is woken: shows a notification in the app's words, and brings the app up on a click. It
// knows no identity, no key and no message: that something is there is all it is told.

/** What woke the browser. */
export interface Pushed {
  readonly type: 'message' | 'call'
  /** Whether a page of the app is in sight, and says it itself. */
  readonly hasVisiblePage: boolean
}

/** A notification, in the app's words. */
export interface PushNotice {
  readonly title: string
  readonly body?: string
  /** Address of an image. */
  readonly icon?: string
  /** Address of a small image of one colour, for the status bar. */
  readonly badge?: string
}

/** Puts a push into words; undefined shows nothing, which browsers forgive only while a page is in sight. */
export type PushWords = (pushed: Pushed) => PushNotice | undefined

/**
 * Shows a notification whenever this browser is woken. To be called by the app's service worker when it starts, not later:
 *
 *     import { showPushes } from '@sotto/client/push-worker'
 *     showPushes(({ type }) => ({ title: type === 'call' ? 'Somebody calls' : 'New messages' }))
 *
 * A second of the same kind takes the place of the first. A click brings a page of the app to the front, or opens `page`.
 *
 * A browser that ends or changes its subscription by itself (`pushsubscriptionchange`) is woken again once a page of the app
 * has called `Push.subscribe`: a new subscription is the account's to hand over, and the worker has nothing to log in with.
 * @param options.page the address to open where no page is; `/` unless told
 */
export function showPushes(words: PushWords, { page = '/' }: { readonly page?: string } = {}): void {
  const scope: unknown = globalThis
  if (!isWorker(scope)) throw new TypeError('pushes come to service workers only')
  const pages = (): Promise<readonly Page[]> =>
    scope.clients.matchAll({ type: 'window', includeUncontrolled: true })

  const show = async (type: Pushed['type']): Promise<void> => {
    const hasVisiblePage = (await pages()).some(({ visibilityState }) => visibilityState === 'visible')
    const notice = words({ type, hasVisiblePage })
    if (!notice) return
    const { title, ...options } = notice
    await scope.registration.showNotification(title, { ...options, tag: `sotto-${type}`, renotify: true })
  }
  const open = async (): Promise<void> => {
    const [first] = await pages()
    if (first) await first.focus()
    else await scope.clients.openWindow(page)
  }
  scope.addEventListener('push', (event) => {
    event.waitUntil?.(show(typeOf(event)))
  })
  scope.addEventListener('notificationclick', (event) => {
    event.notification?.close()
    event.waitUntil?.(open())
  })
}

// What is not understood is a message: the browser wants something shown.
function typeOf({ data }: WorkerEvent): Pushed['type'] {
  return /"type"\s*:\s*"call"/.test(data?.text() ?? '') ? 'call' : 'message'
}

// TypeScript has these names in a library of its own, which cannot be had beside that of pages.
interface Page {
  readonly visibilityState: string
  focus(): Promise<unknown>
}
interface WorkerEvent {
  readonly data?: { text(): string } | null
  readonly notification?: { close(): void }
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
