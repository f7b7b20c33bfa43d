// The memory that a file of 100 MiB costs the relay, in every place that can store blobs.
import { expect, test } from 'bun:test'
import { swiftEnvironment } from './media-stores.ts'
import { MediaAccount, noise, PART_BYTES } from './media-wire.ts'
import { type RelayProcess, startRelay } from './relay-process.ts'
import { residentMib } from './resident.ts'

const PARTS = 20
const MOST_GROWTH_MIB = 32

const places = [
  { name: 'a folder', environment: async () => ({}) },
  { name: 'Swift', environment: swiftEnvironment },
]
for (const { name, environment } of places) {
  test(`a relay with its blobs in ${name} needs less than 32 MiB for 100 MiB uploaded in parts, downloaded whole and in ranges`, async () => {
    const relay = await startRelay({ env: await environment() })
    try {
      const alice = await MediaAccount.make(relay.url)
      // One small transfer first, so that loading and compiling code does not count.
      await drained(await alice.download(await alice.upload(noise(1000))))
      const grownMib = watch(relay)
      const part = noise(PART_BYTES)
      const key = await alice.upload(...Array.from({ length: PARTS }, () => part))
      expect(await drained(await alice.download(key))).toBe(PARTS * PART_BYTES)
      for (let at = 0; at < PARTS; at++) {
        const range = `bytes=${at * PART_BYTES}-${(at + 1) * PART_BYTES - 1}`
        expect(await drained(await alice.download(key, { range }))).toBe(PART_BYTES)
      }
      const grown = grownMib()
      console.log(`memory grown by ${grown.toFixed(1)} MiB`)
      expect(grown).toBeLessThan(MOST_GROWTH_MIB)
    } finally {
      await relay.stop()
    }
  }, 300_000)
}

async function drained({ body }: Response): Promise<number> {
  let bytes = 0
  for await (const piece of body ?? []) bytes += piece.byteLength
  return bytes
}

/** Samples a relay's memory. @returns a function that stops the sampling and returns the largest growth */
function watch(relay: RelayProcess): () => number {
  const before = residentMib(relay)
  let most = before
  const timer = setInterval(() => {
    most = Math.max(most, residentMib(relay))
  }, 5)
  return () => {
    clearInterval(timer)
    return most - before
  }
}
