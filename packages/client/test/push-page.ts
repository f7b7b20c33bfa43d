// An application's page that asks to be woken.
import { ClientError, MemoryStore, Push, SottoClient } from '../src/client.ts'

let push: Push

let hurry = 1

const clock = {
  now: () => Date.now(),
  after: (ms: number, run: () => void) => {
    const timer = setTimeout(run, ms === 30_000 ? ms / hurry : ms)
    return () => clearTimeout(timer)
  },
}

async function join(relayUrl: string): Promise<void> {
  const client = await SottoClient.open({ relayUrl, store: new MemoryStore(), clock })
  await client.create({ nickname: 'page' })
  push = new Push(client)
}

/**
 * @param times the browser's push service is waited for that many times as short
 * @returns what came of it: `done`, or the code of what was thrown
 */
async function subscribe(times: number): Promise<string> {
  hurry = times
  try {
    await navigator.serviceWorker.register('/push-worker-page.js')
    await push.subscribe(await navigator.serviceWorker.ready)
    return 'done'
  } catch (error) {
    return error instanceof ClientError ? error.code : String(error)
  }
}

Object.assign(globalThis, { join, subscribe, isReady: true })
