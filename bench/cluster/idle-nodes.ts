// `idle`: what nodes cost while nothing happens, with each bus, and the memory of idle connections on one of
// two nodes. The first row is an embedded node, which has no bus.
import { WireAccount } from '@sotto/relay/testing/wire'
import type { Bench } from '../bench.ts'
import { inParallel } from '../load/accounts.ts'
import { connect } from '../load/pairs.ts'
import type { RawSocket } from '../load/raw-socket.ts'
import { residentKib } from '../measure.ts'
import { type Carrier, type Database, type MeasuredNode, startDatabase, startNode } from './nodes.ts'

const AT_ONCE = 20
const WARM_UP = 1000

/** The length of a run. */
export interface IdleSizes {
  readonly buses: readonly Carrier[]
  readonly connections: number
  /** How long the nodes are watched; they settle for as long before. */
  readonly seconds: number
}

export const idleNodes: Bench = {
  means: 'CPU time of nodes while nothing happens, and the memory of an idle connection',
  run: async () => {
    const settings = { connections: 10_000, seconds: 20 }
    return { settings, rows: await measureIdle({ ...settings, buses: ['PostgreSQL', 'NATS'] }) }
  },
}

/** @returns a row for each number of nodes and each bus */
export async function measureIdle({ buses, connections, seconds }: IdleSizes) {
  await using database = await startDatabase()
  const rows: Record<string, string | number>[] = []
  const embedded = await startNode()
  rows.push({ ...row('none', [embedded], 0), ...(await watch([embedded], database, seconds)) })
  await embedded.stop()
  for (const bus of buses) {
    for (const count of [1, 2]) {
      const nodes = await database.startNodes(count, { bus })
      rows.push({ ...row(bus, nodes, 0), ...(await watch(nodes, database, seconds)) })
      if (bus === 'PostgreSQL' && count === 2) {
        const held = await hold(nodes, connections, seconds)
        const busy = await watch(nodes, database, seconds)
        rows.push({ ...row(bus, nodes, connections), ...busy, 'KiB a connection': held.settledKib() })
        for (const socket of held.sockets) socket.close()
      }
      for (const node of nodes) await node.stop()
    }
  }
  return rows
}

function row(bus: string, nodes: readonly MeasuredNode[], connections: number) {
  return { bus, nodes: nodes.length, connections, 'KiB a connection': '' }
}

/** How much CPU time nodes and database use in a second. */
async function watch(nodes: readonly MeasuredNode[], database: Database, seconds: number) {
  await Bun.sleep(seconds * 1000)
  const relays = (): number => nodes.reduce((sum, node) => sum + node.cpuMs(), 0)
  const before = { at: performance.now(), relays: relays(), database: database.cpuMs() }
  await Bun.sleep(seconds * 1000)
  const passed = (performance.now() - before.at) / 1000
  const rounded = (value: number): number => Math.round(value * 100) / 100
  return {
    'a node, CPU ms a second': rounded((relays() - before.relays) / passed / nodes.length),
    'PostgreSQL, CPU ms a second': rounded((database.cpuMs() - before.database) / passed),
  }
}

/**
 * Connects clients to the first node, which stay connected. They register at the second one, so that the
 * garbage of that work is not counted. Some connect before, because a node's first connections take memory
 * only once.
 */
async function hold(nodes: readonly MeasuredNode[], count: number, settleSeconds: number) {
  const [node, other] = nodes
  if (!node || !other) throw new Error('a node is missing')
  const accounts = Array.from({ length: count }, () => new WireAccount(other.url))
  await inParallel(accounts, AT_ONCE, async (account) => {
    await account.register()
    await account.login()
    account.base = node.url
  })
  const first: RawSocket[] = []
  await inParallel(accounts.slice(0, WARM_UP), AT_ONCE, async (account) => {
    first.push(await connect(account))
  })
  for (const socket of first) socket.close()
  await Bun.sleep(settleSeconds * 1000)
  const before = residentKib(node.pid)
  const sockets: RawSocket[] = []
  await inParallel(accounts, AT_ONCE, async (account) => {
    sockets.push(await connect(account))
  })
  const settledKib = (): number => Math.round(((residentKib(node.pid) - before) / count) * 100) / 100
  return { sockets, settledKib }
}
