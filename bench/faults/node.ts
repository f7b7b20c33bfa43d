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
  /** Its own data. */
  readonly folder: string
  /** The layer under its disk and its clock; undefined where that is not possible. */
  readonly disk: Disk | undefined
  /** Its settings. */
  readonly env: Readonly<Record<string, string>>
  /** Between it and the database, if that is a server. */
  readonly line: TcpProxy | undefined
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

/** @param layer the layer that {@link prepareLayer} made */
export async function startNode(
  number: number,
  {
    layer,
    folder,
    line,
    start,
    ...parts
  }: {
    layer: Disk | undefined
    folder: string
    line: TcpProxy | undefined
    env: Readonly<Record<string, string>>
    start: typeof startRelay
  },
): Promise<Node> {
  const env = { ...parts.env, DATA_DIR: folder, ...layer?.env }
  const relay = await start({ env })
  const wire = await FaultyWire.start(Number(new URL(relay.url).port))
  return {
    ...{ number, relay, folder, env, line, disk: layer, wire, startedOffByMs: 0 },
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
