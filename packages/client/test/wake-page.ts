// The page of wake.test.ts. It counts the connection attempts of its client, and the test controls the
// client's clock.
import { MemoryStore, SottoClient } from '../src/client.ts'
import { TestClock } from './fakes.ts'

const clock = new TestClock()
let attempts = 0

async function join(relayUrl: string): Promise<void> {
  const client = await SottoClient.open({
    relayUrl,
    store: new MemoryStore(),
    clock,
    // The client draws four random bytes to choose the length of a wait. These make each wait the longest.
    random: (length) =>
      length === 4 ? new Uint8Array(4).fill(255) : crypto.getRandomValues(new Uint8Array(length)),
    fetch: (url, init) => {
      if (url.endsWith('/ws/ticket')) attempts += 1
      return fetch(url, init)
    },
  })
  await client.create({ nickname: 'page' })
  client.connect()
  Object.assign(globalThis, { client })
}

Object.assign(globalThis, { join, clock, attempts: () => attempts, isReady: true })
