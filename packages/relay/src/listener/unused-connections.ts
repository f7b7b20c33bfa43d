// Closes connections without a request when too many are open, so that those of others can be accepted. Bun
// accepts connections by itself, until the process has no descriptor left and nobody gets in.
import type { Clock } from '../operations/clock.ts'
import { countDescriptors } from '../operations/descriptors.ts'
import type { Log } from '../operations/log.ts'
import { RepeatedWarning } from '../operations/repeated-warning.ts'
import { widerNetworksOf } from './address.ts'
import type { ConnectionCaps } from './connection-caps.ts'
import type { ConnectionsInUse } from './connections-in-use.ts'
import type { TcpConnection, TcpConnections } from './tcp-connections.ts'

const [CHECK_EVERY_MS, CHECK_EVERY_MS_IF_HALF_FULL] = [250, 50]
/**
 * How long the next check waits for each connection that was looked at. A look takes about 3 µs, so checks
 * take at most a twentieth of the time, even with 20,000 connections.
 */
const WAIT_MS_FOR_EACH = 0.06
/** The share of the cap that remains open, so that the next connections need not close others at once. */
const TARGET = 7 / 8
/** Above this share of the cap, connections are not kept after their request. */
const NEARLY_FULL = 3 / 4

export interface UnusedConnectionParts {
  readonly caps: ConnectionCaps
  readonly descriptorLimit: number
  readonly inUse: ConnectionsInUse
  /** If undefined, only connections that wait for their next request are closed. */
  readonly tcp: TcpConnections | undefined
  /** Closes all connections that wait for their next request. @returns how many */
  readonly closeIdle: () => number
  readonly log: Log
  readonly clock: Clock
}

/** A connection, and how many of its holder's are open if the ones before it are closed. */
interface Ranked {
  readonly connection: TcpConnection
  readonly rank: number
}

export class UnusedConnections {
  readonly #parts: UnusedConnectionParts
  readonly #closed: RepeatedWarning
  #open = 0
  #mostOpen = 0
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(parts: UnusedConnectionParts) {
    this.#parts = parts
    this.#closed = new RepeatedWarning('connections_closed', parts)
    this.#plan(CHECK_EVERY_MS)
  }

  /** Whether connections should not be kept after their request. */
  get isNearlyFull(): boolean {
    return this.#open > this.#parts.caps.total * NEARLY_FULL
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  #plan(delayMs: number): void {
    this.#timer = setTimeout(() => this.#check(), delayMs)
  }

  #check(): void {
    this.#open = countDescriptors(this.#parts.descriptorLimit)
    this.#mostOpen = Math.max(this.#mostOpen, this.#open)
    const { total, descriptors } = this.#parts.caps
    const looked = this.#open > Math.min(total, descriptors) ? this.#makeRoom() : 0
    const usual = this.#open > total / 2 ? CHECK_EVERY_MS_IF_HALF_FULL : CHECK_EVERY_MS
    this.#plan(Math.max(usual, looked * WAIT_MS_FOR_EACH))
  }

  /** @returns how many connections it looked at */
  #makeRoom(): number {
    const { caps, tcp, closeIdle, descriptorLimit } = this.#parts
    if (!tcp) {
      this.#report(closeIdle())
      return this.#open
    }
    // A new descriptor gets the lowest free number. More may have been open between two checks.
    const open = tcp.list(Math.min(descriptorLimit, 2 * this.#mostOpen + 1024))
    const tooMany = Math.max(open.length - caps.total, this.#open - caps.descriptors)
    if (tooMany <= 0) return open.length
    const { unused: found, downloads } = this.#unusedOf(open)
    const unused = found.slice(0, tooMany + Math.ceil(caps.total * (1 - TARGET)))
    // Slow downloads from a few addresses could take all descriptors: each takes a second one, for its file.
    unused.push(...downloads.slice(0, Math.max(0, tooMany - unused.length)))
    for (const connection of unused) tcp.end(connection)
    this.#report(unused.length, unused[0]?.address)
    return open.length
  }

  /**
   * The connections that can be closed, and those that may be downloads, which go only if the others are not
   * enough. In both, those of the address that has the most open come first.
   */
  #unusedOf(open: readonly TcpConnection[]): { unused: TcpConnection[]; downloads: TcpConnection[] } {
    const { caps, inUse } = this.#parts
    const counts = new Map<string, number>()
    for (const { address } of open) {
      const holder = holderOf(address)
      counts.set(holder, (counts.get(holder) ?? 0) + 1)
    }
    const unused: Ranked[] = []
    const downloads: Ranked[] = []
    // Those of one holder that send nothing go first: a proxy is one holder for all its clients.
    for (const connection of open.toSorted((a, b) => Number(a.isSending) - Number(b.isSending))) {
      if (inUse.has(connection.key)) continue
      const holder = holderOf(connection.address)
      const rank = counts.get(holder) ?? 0
      // A download's request has ended for us. Those of an address with very many are like all others.
      const isDownload = connection.isSending && rank <= caps.address
      counts.set(holder, rank - 1)
      const list = isDownload ? downloads : unused
      list.push({ connection, rank })
    }
    return { unused: byRank(unused), downloads: byRank(downloads) }
  }

  #report(closed: number, address?: string): void {
    const reason = 'the process has too many open connections; those without a request were closed'
    if (closed > 0) this.#closed.happened({ reason, ...(address === undefined ? {} : { address }) }, closed)
  }
}

function byRank(ranked: Ranked[]): TcpConnection[] {
  return ranked.sort((a, b) => b.rank - a.rank).map(({ connection }) => connection)
}

// One attacker can have a whole /48, with an address for each connection.
function holderOf(address: string): string {
  return widerNetworksOf(address).at(-1)?.name ?? address
}
