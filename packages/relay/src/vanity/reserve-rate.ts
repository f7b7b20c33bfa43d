// The rate of ids that are ordered without an account. It is counted in the store, so that it is exact over
// any day, for all nodes together, and a restart forgets nothing.
import { createHmac } from 'node:crypto'
import { ProtocolError, type RateInForce, type Rates, rates } from '@sotto/protocol'
import { widerNetworksOf } from '../listener/address.ts'
import type { Clock } from '../operations/clock.ts'
import { type RandomBytes, randomText } from '../operations/random.ts'
import type { RelayMetrics } from '../operations/relay-metrics.ts'
import type { SecurityLog } from '../operations/security-log.ts'
import type { Sql, Storage } from '../storage/storage.ts'

interface Parts {
  readonly storage: Storage
  readonly clock: Clock
  readonly randomBytes: RandomBytes
  readonly rates: Rates
  readonly metrics: RelayMetrics
  readonly securityLog: SecurityLog
  /** With it, addresses are hashed: the store keeps none of them for this. */
  readonly secret: Uint8Array
}

/** The row of relay_state that a transaction locks while it counts. */
const LOCK_ROW = 'reserves'

export class ReserveRate {
  readonly #parts: Parts
  /** Undefined if rates are turned off. */
  readonly #rate: RateInForce | undefined

  constructor(parts: Parts) {
    this.#parts = parts
    this.#rate = parts.rates?.reserve
  }

  /**
   * Places an order that counts for an address and its wider networks. An order that fails counts for none.
   * @param place places the order; calls `count` in the transaction that does so
   * @throws ProtocolError `RATE_LIMITED`, with the time to wait, from `count`; and what `place` throws
   */
  async counted<T>(address: string, place: (count: (sql: Sql) => Promise<void>) => Promise<T>): Promise<T> {
    const { storage, randomBytes } = this.#parts
    const reserve = randomText(randomBytes, 12)
    try {
      return await place((sql) => this.#count(sql, address, reserve))
    } catch (error) {
      // The order may have failed after its transaction, when the provider was asked where to pay.
      if (this.#rate) await storage.transaction((sql) => sql`DELETE FROM reserves WHERE reserve = ${reserve}`)
      throw error
    }
  }

  /** Erases what no longer counts. Runs periodically. */
  async eraseOld(storage = this.#parts.storage): Promise<void> {
    const { clock } = this.#parts
    const before = clock.now() - (this.#rate ?? rates.reserve).perSeconds * 1000
    await storage.transaction((sql) => sql`DELETE FROM reserves WHERE at <= ${before}`)
  }

  async #count(sql: Sql, address: string, reserve: string): Promise<void> {
    if (!this.#rate) return
    const { burst, perSeconds } = this.#rate
    // One transaction at a time counts, so that two together cannot both be the last one allowed.
    await sql`
      INSERT INTO relay_state (name, value) VALUES (${LOCK_ROW}, '')
      ON CONFLICT (name) DO UPDATE SET value = relay_state.value`
    const now = this.#parts.clock.now()
    for (const { name, times } of [{ name: address, times: 1 }, ...widerNetworksOf(address)]) {
      const network = this.#hashOf(name)
      const [full] = await sql<{ at: number }>`
        SELECT at FROM reserves WHERE network = ${network} AND at > ${now - perSeconds * 1000}
        ORDER BY at DESC LIMIT 1 OFFSET ${burst * times - 1}`
      if (full) {
        const retryAfterMs = full.at + perSeconds * 1000 - now
        this.#parts.metrics.ratesReached.count('reserve')
        this.#parts.securityLog.record('rate_reached', { rate: 'reserve', address })
        throw new ProtocolError('RATE_LIMITED', { limit: 'reserve', retryAfterMs })
      }
      await sql`INSERT INTO reserves (network, at, reserve) VALUES (${network}, ${now}, ${reserve})`
    }
  }

  #hashOf(network: string): string {
    return createHmac('sha256', this.#parts.secret).update(network).digest('base64url')
  }
}
