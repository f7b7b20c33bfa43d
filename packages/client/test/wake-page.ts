// The page of wake.test.ts: a client whose attempts to connect are counted, and whose time is in the test's hands.
import { MemoryStore, SottoClient } from '../src/client.ts'
import { TestClock } from './fakes.ts'

const clock = new TestClock()
let attempts = 0

async function join(relayUrl: string): Promise<void> {
  const client = await SottoClient.open({
    relayUrl,
    store: new MemoryStore(),
    clock,
    // Lots of four bytes are those of waits: each is the longest there is.
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
