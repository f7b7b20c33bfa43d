// Counts requests under way and WebSockets, by address and in total, and refuses those beyond the caps.
import { ProtocolError } from '@sotto/protocol'
import type { Clock } from '../operations/clock.ts'
import type { Log } from '../operations/log.ts'
import { RepeatedWarning } from '../operations/repeated-warning.ts'
import { wholeAddress, widerNetworksOf } from './address.ts'
import type { ConnectionCaps } from './connection-caps.ts'

/** A request or WebSocket that is counted, until it ends. */
export interface Use {
  /** Ends it; later calls do nothing. */
  end(): void
}

/** Who uses a connection. */
export interface User {
  /** The address that rates count, and that its proxies reported. */
  readonly address: string
  /** Names the TCP connection: see {@link connectionKey}. */
  readonly key: string
  /** Whether it is refused at once without a valid token or ticket. */
  readonly isForAccounts: boolean
}

const RETRY_AFTER_MS = 2000

/**
 * Names a TCP connection of the port by its other end. A machine with a /64 can have the same port at any
 * number of its addresses, so the whole address counts.
 */
export function connectionKey(peerAddress: string, peerPort: number): string {
  return `${peerPort} ${wholeAddress(peerAddress)}`
}

export class ConnectionsInUse {
  readonly #caps: ConnectionCaps
  readonly #byAddress = new Map<string, number>()
  readonly #byKey = new Map<string, number>()
  readonly #totalReached: RepeatedWarning
  readonly #addressReached: RepeatedWarning
  #total = 0

  constructor(caps: ConnectionCaps, parts: { log: Log; clock: Clock }) {
    this.#caps = caps
    this.#totalReached = new RepeatedWarning('connections_refused', parts)
    this.#addressReached = new RepeatedWarning('address_connections_refused', parts)
  }

  /**
   * Counts a request that begins.
   * @throws ProtocolError `RATE_LIMITED` if the address has too many, `TOO_MANY_CONNECTIONS` if all have
   */
  begin({ address, key, isForAccounts }: User): Use {
    if (this.#total >= (isForAccounts ? this.#caps.total : this.#caps.withoutLogin)) {
      this.#totalReached.happened()
      throw new ProtocolError('TOO_MANY_CONNECTIONS', { retryAfterMs: RETRY_AFTER_MS })
    }
    const names = this.#namesOf(address)
    if (names.some(({ name, most }) => (this.#byAddress.get(name) ?? 0) >= most)) {
      this.#addressReached.happened({ address })
      throw new ProtocolError('RATE_LIMITED', { limit: 'addressConnections', retryAfterMs: RETRY_AFTER_MS })
    }
    this.#total += 1
    for (const { name } of names) add(this.#byAddress, name, 1)
    add(this.#byKey, key, 1)
    let isOver = false
    return {
      end: () => {
        if (isOver) return
        isOver = true
        this.#total -= 1
        for (const { name } of names) add(this.#byAddress, name, -1)
        add(this.#byKey, key, -1)
      },
    }
  }

  /** Whether a connection has a request under way or is a WebSocket. */
  has(key: string): boolean {
    return this.#byKey.has(key)
  }

  // The wider networks of an IPv6 address are counted too, because one attacker can have all of one.
  #namesOf(address: string): { name: string; most: number }[] {
    const most = this.#caps.address
    const wider = widerNetworksOf(address).reverse()
    return [{ name: address, most }, ...wider.map(({ name }, n) => ({ name, most: most * (n + 2) }))]
  }
}

function add(counts: Map<string, number>, name: string, change: 1 | -1): void {
  const count = (counts.get(name) ?? 0) + change
  if (count === 0) counts.delete(name)
  else counts.set(name, count)
}
