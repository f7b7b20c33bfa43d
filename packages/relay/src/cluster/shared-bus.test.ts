// The bus between nodes, on each of its carriers.
import { afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { SQL } from 'bun'
import { findFreePort } from '../../test/free-port.ts'
import { type NatsServer, startNats } from '../../test/nats-server.ts'
import { startPostgres } from '../../test/postgres-server.ts'
import { systemClock } from '../operations/clock.ts'
import { createLog, type Log } from '../operations/log.ts'
import { systemRandom } from '../operations/random.ts'
import type { AccountId } from '../storage/storage.ts'
import type { Bus, Ring } from './bus.ts'
import { natsCarrier } from './nats-carrier.ts'
import { natsServersOf } from './nats-settings.ts'
import { postgresCarrier } from './postgres-carrier.ts'
import { type OpenCarrier, openSharedBus } from './shared-bus.ts'

setDefaultTimeout(240_000)

const ALICE = 7 as AccountId
const parts = { clock: systemClock, randomBytes: systemRandom, log: createLog('silent') }

const opened: Bus[] = []
const stops: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const bus of opened.splice(0)) await bus.stop()
  for (const stop of stops.splice(0)) await stop()
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

/** Something that carries packets. */
interface Medium {
  readonly open: OpenCarrier
  /** Ends the connections of all nodes. */
  cut(): Promise<void>
}

async function startSharedPostgres(): Promise<Medium> {
  const server = await startPostgres()
  stops.push(() => server.stop())
  const url = await server.createDatabase()
  return {
    open: postgresCarrier(url),
    cut: async () => {
      await using sql = new SQL({ url, max: 1 })
      await sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND pid <> pg_backend_pid()`
    },
  }
}

async function startSharedNats(): Promise<Medium> {
  const server = await startNats()
  stops.push(() => server.kill())
  return {
    open: onNats(server.url),
    cut: async () => {
      await server.kill()
      await server.start()
    },
  }
}

function onNats(url: string, subject = 'sotto.test'): OpenCarrier {
  const servers = natsServersOf((name) => (name === 'NATS_URL' ? url : 'postgres://a/b'))
  if (!servers) throw new Error('no NATS')
  return natsCarrier(servers, subject)
}

async function openNode(open: OpenCarrier): Promise<Heard> {
  const bus = await openSharedBus(open, parts)
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
async function twoNodes(open: OpenCarrier): Promise<{ a: Heard; b: Heard }> {
  const a = await openNode(open)
  const b = await openNode(open)
  // Heartbeats come every second.
  while (!a.bus.isShared || !b.bus.isShared) await Bun.sleep(20)
  return { a, b }
}

const told = (event: unknown, text: string): boolean => JSON.stringify(event).includes(text)

const typing = (frame: string): Ring => ({ kind: 'signal', frame })

describe.each([
  ['PostgreSQL', startSharedPostgres],
  ['NATS', startSharedNats],
])('on %s', (_name, start) => {
  test('rings, posts and changes of keys reach both nodes once and in order, and maps stay maps', async () => {
    const { open } = await start()
    const { a, b } = await twoNodes(open)
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
    const { open } = await start()
    const { a, b } = await twoNodes(open)
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
    const { open } = await start()
    const { a, b } = await twoNodes(open)
    const ring = {
      kind: 'mailbox',
      firstPosition: 4,
      lastPosition: 4,
      hasRetractions: false,
      hasUnlisted: false,
      hasVersion3: false,
    }
    const frames = ['x'.repeat(100_000)]
    a.bus.ring(ALICE, { ...ring, frames, bytes: 100_000 } as Ring)
    await b.until(() => b.events.length === 1)
    expect(b.events).toEqual([[ALICE, { ...ring, firstPosition: 0, frames: [], bytes: 0 }, false]])
  })

  test('a node whose connection is cut learns that it may have missed something, and hears the rest', async () => {
    const { open, cut } = await start()
    const { a, b } = await twoNodes(open)
    const before = b.losses
    await cut()
    await b.until(() => b.losses > before)
    // What `a` tells before it is connected again is lost for good. The rest arrives in order, and once.
    for (let i = 0; !b.events.some((event) => told(event, 'ring')); i++) {
      a.bus.ring(ALICE, typing(`ring ${i}`))
      await Bun.sleep(20)
    }
    const others = b.events.map((event) => JSON.stringify(event))
    expect(new Set(others).size).toBe(others.length)
  })

  test('a node that appears later is told that something happened before', async () => {
    const { open } = await start()
    const a = await openNode(open)
    a.bus.ring(ALICE, typing('nobody hears it'))
    const b = await openNode(open)
    await b.until(() => b.losses > 0)
    await a.until(() => a.bus.isShared)
    a.bus.ring(ALICE, typing('heard'))
    await b.until(() => b.events.length === 1)
    expect(b.events).toEqual([[ALICE, typing('heard'), false]])
  })

  test('a node lets the others look into the store', async () => {
    const { open } = await start()
    const { a, b } = await twoNodes(open)
    const before = b.losses
    a.bus.letOthersLook()
    await b.until(() => b.losses > before)
    expect(b.events).toEqual([])
  })

  test('the others look into the store when a node ends without a word', async () => {
    const { open } = await start()
    const { a, b } = await twoNodes(open)
    const before = b.losses
    await a.bus.stop()
    await b.until(() => b.losses > before && !b.bus.isShared)
  })
})

describe('NATS', () => {
  async function startServer(...words: string[]): Promise<NatsServer> {
    const server = await startNats(...words)
    stops.push(() => server.kill())
    return server
  }

  test('a server that is killed and comes back: losses are known, and nothing arrives twice', async () => {
    const server = await startServer()
    const { a, b } = await twoNodes(onNats(server.url))
    const sent: string[] = []
    const tell = (): void => {
      const text = `ring ${sent.length}`
      sent.push(text)
      a.bus.ring(ALICE, typing(text))
    }
    for (let round = 0; round < 3; round++) {
      const before = b.losses
      for (let i = 0; i < 200; i++) tell()
      await server.kill()
      for (let i = 0; i < 200; i++) tell()
      await server.start()
      await b.until(() => b.losses > before)
      const heard = b.events.length
      while (b.events.length === heard) {
        tell()
        await Bun.sleep(20)
      }
    }
    const places = b.events.map((event) => sent.findIndex((text) => told(event, `"${text}"`)))
    expect(places).not.toContain(-1)
    expect(places).toEqual([...new Set(places)].sort((x, y) => x - y))
  })

  test('a server that stands still keeps no node from looking, and is heard again', async () => {
    const server = await startServer()
    const { a, b } = await twoNodes(onNats(server.url))
    server.signal('SIGSTOP')
    await b.until(() => !b.bus.state.isHeard)
    const before = b.losses
    await b.until(() => b.losses > before + 1)
    server.signal('SIGCONT')
    while (!a.bus.state.isHeard || !b.bus.state.isHeard) await Bun.sleep(20)
    while (b.events.length === 0) {
      a.bus.ring(ALICE, typing('ring'))
      await Bun.sleep(20)
    }
    expect(b.bus.state.nodes).toBe(2)
  })

  test('nodes work although no server answers, and hear each other once one does', async () => {
    const server = await startServer()
    await server.kill()
    const a = await openNode(onNats(server.url))
    const b = await openNode(onNats(server.url))
    await a.until(() => a.losses > 1) // It looks, without being told.
    expect(a.bus.state.isHeard).toBe(false)
    await server.start()
    while (!a.bus.isShared || !b.bus.isShared) await Bun.sleep(20)
    expect([a.bus.state, b.bus.state]).toMatchObject([2, 2].map((nodes) => ({ isHeard: true, nodes })))
  })

  test('relays with other subjects do not hear each other', async () => {
    const { url } = await startServer()
    const { a } = await twoNodes(onNats(url))
    const other = await openNode(onNats(url, 'sotto.other'))
    while (other.bus.state.nodes === 0) await Bun.sleep(20)
    const again = await openNode(onNats(url, 'sotto.other'))
    while (!again.bus.isShared || !other.bus.isShared) await Bun.sleep(20)
    expect([a.bus.state.nodes, other.bus.state.nodes]).toEqual([2, 2])
  })

  test.each([
    ['a user and a password', ['--user', 'us:er', '--pass', 'p@ss word'], 'us%3Aer:p%40ss%20word'],
    ['a token', ['--auth', 't0ken'], 't0ken'],
  ])('a server that wants %s', async (_name, words, named) => {
    const { port } = await startServer(...words)
    const away = await findFreePort()
    await twoNodes(onNats(`nats://${named}@127.0.0.1:${away},nats://127.0.0.1:${port}`))
  })

  test('what the server refuses is logged, without the password', async () => {
    const { port } = await startServer('--auth', 'right')
    const lines: string[] = []
    const warn: Log['warn'] = (event, fields) => lines.push(event, Bun.inspect(fields))
    const log = { ...parts.log, warn }
    const bus = await openSharedBus(onNats(`nats://guessed@127.0.0.1:${port}`), { ...parts, log })
    opened.push(bus)
    expect(lines.join('')).toContain('Authorization Violation')
    expect(lines.join('')).not.toContain('guessed')
  })
})
