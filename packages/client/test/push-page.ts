// An application's page that subscribes to wake-up pushes.
import { ClientError, MemoryStore, Push, SottoClient } from '../src/client.ts'

let push: Push

/** The factor by which the wait for the browser's push service is shortened. */
let haste = 1

const clock = {
  now: () => Date.now(),
  after: (ms: number, run: () => void) => {
    const timer = setTimeout(run, ms === 30_000 ? ms / haste : ms)
    return () => clearTimeout(timer)
  },
}

async function join(relayUrl: string): Promise<void> {
  const client = await SottoClient.open({ relayUrl, store: new MemoryStore(), clock })
  await client.create({ nickname: 'page' })
  push = new Push(client)
}

/**
 * Subscribes this page to pushes.
 * @param times the factor by which the wait for the browser's push service is shortened
 * @returns `done`, or the code of the thrown error
 */
async function subscribe(times: number): Promise<string> {
  haste = times
  try {
    await navigator.serviceWorker.register('/push-worker-page.js')
    await push.subscribe(await navigator.serviceWorker.ready)
    return 'done'
  } catch (error) {
    return error instanceof ClientError ? error.code : String(error)
  }
}

Object.assign(globalThis, { join, subscribe, isReady: true })
