// One relay process of a target, with what can fail around it.
import { mkdirSync } from 'node:fs'
import type { RelayProcess, startRelay } from '@sotto/relay/testing'
import type { TcpProxy } from '../../packages/relay/test/tcp-proxy.ts'
import { Disk } from './disk.ts'
import { FaultyWire } from './faulty-wire.ts'

export interface Node {
  /** 0 for the first one. */
  readonly number: number
  readonly relay: RelayProcess
  /**
   * Starts the other build of the relay in place of this one, which has ended; undefined if there is no
   * other.
   */
  readonly exchange: (() => Promise<void>) | undefined
  /** Its own data. */
  readonly folder: string
  /** The layer under its disk and its clock; undefined where that is not possible. */
  readonly disk: Disk | undefined
  /** Its settings. */
  readonly env: Readonly<Record<string, string>>
  /** Between it and the database, if that is a server. */
  readonly line: TcpProxy | undefined
  /** Between it and the server of the bus, if that is NATS. */
  readonly busLine: TcpProxy | undefined
  /** Between the clients and the relay. */
  readonly wire: FaultyWire
  /** The clock's offset at the relay's last start, which this process takes as correct. */
  startedOffByMs: number
  remove(): Promise<void>
}

/** Where a client reaches a node. */
export interface Address {
  readonly node: number
  /** For HTTP. */
  readonly url: string
  /** For WebSockets. */
  readonly port: number
}

/** Where clients reach the nodes: through their wires, or without them. */
export function addressesOf(nodes: readonly Node[], way: 'through wires' | 'directly'): Address[] {
  return nodes.map(({ number, relay: { url }, wire }) => ({
    ...{ node: number, url },
    port: way === 'directly' ? Number(new URL(url).port) : wire.port,
  }))
}

/** Start relays: the real one or a mutant, and another build that takes its place, and so on. */
export type Builds = readonly [typeof startRelay, ...(typeof startRelay)[]]

/** What a node consists of. */
interface Parts {
  /** The layer that {@link prepareLayer} made. */
  readonly layer: Disk | undefined
  readonly folder: string
  readonly line: TcpProxy | undefined
  readonly busLine: TcpProxy | undefined
  readonly env: Readonly<Record<string, string>>
  readonly builds: Builds
}

export async function startNode(number: number, { layer, builds, ...parts }: Parts): Promise<Node> {
  const { folder, line, busLine } = parts
  const env = { ...parts.env, DATA_DIR: folder, ...layer?.env }
  let relay = await builds[0]({ env })
  const { port } = new URL(relay.url)
  const wire = await FaultyWire.start(Number(port))
  let exchanges = 0
  const exchange = async (): Promise<void> => {
    await relay.stop()
    exchanges += 1
    const start = builds[exchanges % builds.length] ?? builds[0]
    relay = await start({ env: { ...env, PORT: port } })
  }
  return {
    ...{ number, folder, env, line, busLine, disk: layer, wire, startedOffByMs: 0 },
    get relay() {
      return relay
    },
    exchange: builds.length > 1 ? exchange : undefined,
    remove: async () => {
      wire.stop()
      await relay.stop()
      layer?.close()
    },
  }
}

/** @returns the layer for a node's data, or why it is not possible on this machine */
export function prepareLayer(folder: string, scratch: string): Disk | string {
  mkdirSync(folder, { recursive: true })
  mkdirSync(scratch, { recursive: true })
  return Disk.prepare(folder, scratch)
}

/** Ends a process that may have ended already. */
export function endNow(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended already.
  }
}

/** Whether a process runs. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Ends what their wires do to connections. */
export function heal(nodes: readonly Node[]): void {
  for (const { wire } of nodes) wire.heal()
}

/** For the history. */
export function namesOf(nodes: readonly Node[]): string {
  return nodes.map(({ number }) => `node ${number}`).join(', ')
}
