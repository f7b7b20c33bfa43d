// The app's service worker: keeps all files of one version of the app on the device, so that the app works
// offline, and shows notifications for pushes.
//
// A new version is complete before it takes over. Pages of the former version keep its files for as long as
// they are open: each holds a lock with the address of its main script (session/updates.ts).
import { showPushes } from '@sotto/client/push-worker'
import { DRAFT_LOCK } from './draft-lock.ts'
import { pushWords } from './push-words.ts'
import { type AppFile, scope } from './scope.ts'

// The build puts these two before the script.
declare const VERSION: string
declare const FILES: readonly AppFile[]

const PREFIX = 'sotto-app-'
const OWN_CACHE = PREFIX + VERSION
const HOME = addressOf('./')
const INDEX = 'index.html'
/** The longest time that a page is waited for. A slow device may take seconds to store. */
const DRAFTS_WITHIN_MS = 10_000
const addresses = new Map(FILES.map((file) => [file.path === INDEX ? HOME : addressOf(file.path), file]))

function addressOf(path: string): string {
  return new URL(path, scope.location.href).href
}

/**
 * Asks the server for a file of exactly this version.
 * @throws TypeError if it has another content, as while the server is being updated
 */
async function download(address: string, { path, hash }: AppFile): Promise<Response> {
  const answer = await fetch(address, {
    cache: path.startsWith('assets/') ? 'default' : 'no-cache',
    headers: { accept: path === INDEX ? 'text/html' : '*/*' },
    integrity: `sha256-${hash}`,
  })
  if (!answer.ok) throw new TypeError(`the server answered ${answer.status} for ${path}`)
  return answer
}

async function install(): Promise<void> {
  const cache = await caches.open(OWN_CACHE)
  const store = async ([address, file]: [string, AppFile]): Promise<void> =>
    cache.put(address, await download(address, file))
  await Promise.all([...addresses].map(store))
}

/** The page may have other headers than at the installation, such as where media are kept. */
async function refreshHome(): Promise<void> {
  const file = addresses.get(HOME)
  if (!file) return
  try {
    const answer = await download(HOME, file)
    await (await caches.open(OWN_CACHE)).put(HOME, answer)
  } catch {
    // Offline, or the server has another version already, which is installed by itself.
  }
}

/** Removes the files of versions of which no page is open any more. */
async function removeFormer(): Promise<void> {
  // The files of a later version may be there already.
  if (scope.registration.installing || scope.registration.waiting) return
  const { held = [] } = await navigator.locks.query()
  const open = held.map(({ name = '' }) => name).filter((name) => name.startsWith(HOME))
  for (const name of await caches.keys()) {
    if (!name.startsWith(PREFIX) || name === OWN_CACHE) continue
    const cache = await caches.open(name)
    const uses = await Promise.all(open.map((address) => cache.match(address)))
    if (!uses.some(Boolean)) await caches.delete(name)
  }
}

/** The stored file for a request; undefined if the request is not for the app. */
async function stored(address: string): Promise<Response | undefined> {
  const own = await (await caches.open(OWN_CACHE)).match(address, { ignoreVary: true })
  return own ?? (await caches.match(address, { ignoreVary: true }))
}

/** The page, once what was typed is stored: a page that is loaded again ends when it gets this answer. */
async function page(): Promise<Response | undefined> {
  try {
    await navigator.locks.request(DRAFT_LOCK, { signal: AbortSignal.timeout(DRAFTS_WITHIN_MS) }, () => {})
  } catch {
    // A page that does not store in time must not keep the app from opening.
  }
  return stored(HOME)
}

scope.addEventListener('install', (event) => event.waitUntil(install()))
scope.addEventListener('activate', (event) => event.waitUntil(scope.clients.claim().then(removeFormer)))
scope.addEventListener('message', ({ data }) => {
  if (data === 'take over') void scope.skipWaiting()
})
scope.addEventListener('fetch', (event) => {
  const { request } = event
  const { origin, pathname } = new URL(request.url)
  const address = origin + pathname
  const isOfFormer = pathname.startsWith(new URL('assets/', HOME).pathname)
  if (request.method !== 'GET' || !(addresses.has(address) || isOfFormer)) return
  // The relay answers programs with text at the address of the page.
  if (address === HOME && request.mode !== 'navigate') return
  const answer = address === HOME ? page() : stored(address)
  event.respondWith(answer.then((found) => found ?? fetch(request)))
  if (address === HOME) event.waitUntil(refreshHome().then(removeFormer))
})

showPushes(pushWords, { page: HOME })
