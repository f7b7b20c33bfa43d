// Installs the app's service worker, which makes the app work offline, and says when a new version is ready.
import { effect, signal } from '@preact/signals'
import { storePushWords } from '../service-worker/push-words.ts'
import { language, texts } from '../texts/texts.ts'
import { serviceWorkerAddress } from './trusted-scripts.ts'

const LOOK_EVERY_MS = 60 * 60_000

const waiting = signal<ServiceWorker | undefined>(undefined)

/** Whether a new version is complete on this device and waits to take over. */
export function isUpdateReady(): boolean {
  return waiting.value !== undefined
}

/** Lets the new version take over: all tabs of the app are loaded again. Drafts are in the store. */
export function takeUpdate(): void {
  waiting.value?.postMessage('take over')
}

/** Asks no more in this tab until it is loaded again. The new version also takes over once no tab is open. */
export function putOffUpdate(): void {
  waiting.value = undefined
}

/**
 * Installs the service worker and follows its versions. Where the browser has none, as on pages without TLS,
 * the app works only while its server can be reached.
 */
export async function followUpdates(): Promise<void> {
  const container: ServiceWorkerContainer | undefined = Reflect.get(navigator, 'serviceWorker')
  if (!container) return
  holdVersion()
  effect(() => {
    if (language.value) void storePushWords(texts.value.updates.pushed)
  })
  let isControlled = container.controller !== null
  container.addEventListener('controllerchange', () => {
    // The first version takes over a page that already is of this version.
    if (isControlled) location.reload()
    isControlled = true
  })
  const registration = await container.register(serviceWorkerAddress(), { updateViaCache: 'none' })
  const look = (): void => {
    waiting.value = isControlled ? (registration.waiting ?? undefined) : undefined
  }
  registration.addEventListener('updatefound', () => {
    registration.installing?.addEventListener('statechange', look)
  })
  look()
  const ask = (): void => {
    // Without a network there is no update.
    if (navigator.onLine) registration.update().catch(() => undefined)
  }
  setInterval(ask, LOOK_EVERY_MS)
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden) ask()
  })
}

/** Says with a lock which version this page is of. The service worker keeps its files meanwhile. */
function holdVersion(): void {
  const script = document.querySelector<HTMLScriptElement>('script[type=module]')
  if (script) void navigator.locks.request(script.src, { mode: 'shared' }, () => new Promise(() => {}))
}
