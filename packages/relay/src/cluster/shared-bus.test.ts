// The bus between nodes that share a PostgreSQL.
import { afterEach, expect, setDefaultTimeout, test } from 'bun:test'
import { SQL } from 'bun'
import { type PostgresServer, startPostgres } from '../../test/postgres-server.ts'
import { systemClock } from '../operations/clock.ts'
import { createLog } from '../operations/log.ts'
import { systemRandom } from '../operations/random.ts'
import type { AccountId } from '../storage/storage.ts'
import type { Bus, Ring } from './bus.ts'
import { postgresCarrier } from './postgres-carrier.ts'
import { openSharedBus } from './shared-bus.ts'

setDefaultTimeout(240_000)

const ALICE = 7 as AccountId
const parts = { clock: systemClock, randomBytes: systemRandom, log: createLog('silent') }

let server: PostgresServer | undefined
const opened: Bus[] = []

afterEach(async () => {
  for (const bus of opened.splice(0)) await bus.stop()
  await server?.stop()
})

/** What a node heard, in its order. */
interface Heard {
  readonly bus: Bus
  readonly events: unknown[]
  /** How often it was told that something may be lost. */
  losses: number
  /** Resolves when the condition is true. It is asked whenever something is heard. */
  until(condition: () => boolean): Promise<void>
}

async function startServer(): Promise<string> {
  server = await startPostgres()
  return await server.createDatabase()
}

async function openNode(url: string): Promise<Heard> {
  const bus = await openSharedBus(postgresCarrier(url), parts)
  opened.push(bus)
  const waiting = new Set<() => void>()
  const changed = (): void => {
    for (const ask of waiting) ask()
  }
  const heard: Heard = {
    bus,
    events: [],
    losses: 0,
    until: (condition) =>
      new Promise((resolve) => {
        const ask = (): void => {
          if (!condition()) return
          waiting.delete(ask)
          resolve()
        }
        waiting.add(ask)
        ask()
      }),
  }
  const add = (...event: unknown[]): void => {
    heard.events.push(event)
    changed()
  }
  bus.listen((account, ring, isOwn) => add(account, ring, isOwn))
  bus.listenToTopics((topic, frame) => add(topic, frame))
  bus.listenToKeys(() => add('keys'))
  bus.listenToLoss(() => {
    heard.losses += 1
    changed()
  })
  return heard
}

/** Two nodes that have heard of each other. */
async function twoNodes(): Promise<{ url: string; a: Heard; b: Heard }> {
  const url = await startServer()
  const a = await openNode(url)
  const b = await openNode(url)
  // Heartbeats come every second.
  while (!a.bus.isShared || !b.bus.isShared) await Bun.sleep(20)
  return { url, a, b }
}

const typing = (frame: string): Ring => ({ kind: 'signal', frame })

test('rings, posts and changes of keys reach both nodes once and in order, and maps stay maps', async () => {
  const { a, b } = await twoNodes()
  const listed: Ring = { kind: 'listed', conversations: new Map([['c' as never, 5]]) }
  a.bus.ring(ALICE, typing('1'))
  a.bus.publish('channel 3', 'post')
  a.bus.ring(ALICE, listed)
  a.bus.keysChanged()
  a.bus.ring(ALICE, typing('2'))
  const told = (isOwn: boolean): unknown[] => [
    [ALICE, typing('1'), isOwn],
    ['channel 3', 'post'],
    [ALICE, listed, isOwn],
    ['keys'],
    [ALICE, typing('2'), isOwn],
  ]
  expect(a.events).toEqual(told(true))
  await b.until(() => b.events.length === 5)
  expect(b.events).toEqual(told(false))
})

test('frames that are longer than a notification may be arrive whole', async () => {
  const { a, b } = await twoNodes()
  const long = '𝄞é"\\'.repeat(20_000)
  a.bus.ring(ALICE, typing(long))
  a.bus.ring(ALICE, typing('short'))
  await b.until(() => b.events.length === 2)
  expect(b.events).toEqual([
    [ALICE, typing(long), false],
    [ALICE, typing('short'), false],
  ])
})

test('of a long ring for the mailbox only the position travels, because the store has the frames', async () => {
  const { a, b } = await twoNodes()
  const ring = {
    kind: 'mailbox',
    firstPosition: 4,
    lastPosition: 4,
    hasRetractions: false,
    hasUnlisted: false,
  }
  const frames = ['x'.repeat(5000)]
  a.bus.ring(ALICE, { ...ring, frames, bytes: 5000 } as Ring)
  await b.until(() => b.events.length === 1)
  expect(b.events).toEqual([[ALICE, { ...ring, firstPosition: 0, frames: [], bytes: 0 }, false]])
})

test('a node whose connection is cut learns that it may have missed something, and hears the rest', async () => {
  const { url, a, b } = await twoNodes()
  await using sql = new SQL({ url, max: 1 })
  const before = b.losses
  // The connections that listen, of both nodes.
  await sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND pid <> pg_backend_pid()`
  await b.until(() => b.losses > before)
  a.bus.ring(ALICE, typing('after'))
  await b.until(() => b.events.some((event) => JSON.stringify(event).includes('after')))
})

test('a node that appears later is told that something happened before', async () => {
  const url = await startServer()
  const a = await openNode(url)
  a.bus.ring(ALICE, typing('nobody hears it'))
  const b = await openNode(url)
  await b.until(() => b.losses > 0)
  await a.until(() => a.bus.isShared)
  a.bus.ring(ALICE, typing('heard'))
  await b.until(() => b.events.length === 1)
  expect(b.events).toEqual([[ALICE, typing('heard'), false]])
})

test('the others look into the store when a node ends without a word', async () => {
  const { a, b } = await twoNodes()
  const before = b.losses
  await a.bus.stop()
  await b.until(() => b.losses > before && !b.bus.isShared)
})
