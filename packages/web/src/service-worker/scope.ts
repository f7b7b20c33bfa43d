// The service worker's global scope. TypeScript declares it in the library for workers, which cannot be
// combined with the library for pages.

/** A file of the app, as the build lists it. */
export interface AppFile {
  /** Relative to the app's address. */
  readonly path: string
  /** SHA-256 in base64. */
  readonly hash: string
}

interface WorkerEvent {
  waitUntil(work: Promise<unknown>): void
}
interface RequestEvent extends WorkerEvent {
  readonly request: Request
  respondWith(answer: Promise<Response>): void
}
interface Scope {
  readonly location: Location
  readonly registration: ServiceWorkerRegistration
  readonly clients: { claim(): Promise<void> }
  skipWaiting(): Promise<void>
  addEventListener(type: 'install' | 'activate', listen: (event: WorkerEvent) => void): void
  addEventListener(type: 'fetch', listen: (event: RequestEvent) => void): void
  addEventListener(type: 'message', listen: (event: { readonly data: unknown }) => void): void
}

/** The scope of this script. @throws TypeError if it is no service worker */
export const scope = scopeOf(globalThis)

function scopeOf(found: unknown): Scope {
  if (!isScope(found)) throw new TypeError('this script runs as a service worker only')
  return found
}

function isScope(found: unknown): found is Scope {
  return typeof found === 'object' && found !== null && 'skipWaiting' in found && 'registration' in found
}
