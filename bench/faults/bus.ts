// The server of the bus between the nodes, if that is NATS.

import { startNats } from '../../packages/relay/test/nats-server.ts'
import { findNats } from '../../scripts/find-nats.mjs'
import { type Database, endNotifications } from './database.ts'
import { type Line, linesTo } from './lines.ts'
import type { Node } from './node.ts'
import { Random } from './random.ts'

/** What carries the notifications of the nodes: their PostgreSQL, or NATS. */
export const busKinds = ['postgres', 'nats'] as const

export type BusKind = (typeof busKinds)[number]

/** What can happen to the server. */
export const busFailures = ['kill', 'freeze', 'restart'] as const

/** A NATS server of one round. */
export interface NatsBus {
  /** Adds a way for one node. */
  addLine(): Promise<Line>
  /** @param lastsMs how long a server is dead or stands still; one that is restarted is back at once */
  fail(how: (typeof busFailures)[number], lastsMs: number): Promise<void>
  stop(): Promise<void>
}

/** The bus of a round, by its seed. */
export function busOf(seed: number): BusKind {
  return new Random(seed, 4).pick(busKinds)
}

/** Ends the connections of some nodes to the bus. @returns their number */
export async function deafen(
  target: {
    readonly nodes: readonly Pick<Node, 'busLine'>[]
    readonly database: Database | undefined
    readonly bus: NatsBus | undefined
  },
  choose: () => boolean,
): Promise<number> {
  const { nodes, database, bus } = target
  if (!bus) return database ? await endNotifications(database, choose) : 0
  const chosen = nodes.filter(choose)
  for (const { busLine } of chosen) busLine?.drop()
  return chosen.length
}

/** @returns the server, or why it is not possible on this machine */
export async function startNatsBus(): Promise<NatsBus | string> {
  if (!findNats()) return 'no nats-server'
  const server = await startNats()
  const lines = linesTo(server.url)
  return {
    addLine: lines.add,
    fail: async (how, lastsMs) => {
      if (how === 'freeze') {
        server.signal('SIGSTOP')
        await Bun.sleep(lastsMs)
        server.signal('SIGCONT')
        return
      }
      await server.kill()
      if (how === 'kill') await Bun.sleep(lastsMs)
      await server.start()
    },
    stop: async () => {
      await lines.stop()
      await server.kill()
    },
  }
}
