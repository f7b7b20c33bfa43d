// The page of wake.test.ts: a client whose attempts to connect are counted, with the longest waits there are between them.
import { MemoryStore, SottoClient } from '../src/client.ts'

let attempts = 0

async function join(relayUrl: string): Promise<void> {
  const client = await SottoClient.open({
    relayUrl,
    store: new MemoryStore(),
    // Lots of four bytes are those of waits.
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

Object.assign(globalThis, { join, attempts: () => attempts, isReady: true })
