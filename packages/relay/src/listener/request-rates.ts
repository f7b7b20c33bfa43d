// Enforces the rates of HTTP requests and upgrades. The counts are in memory, so each node counts separately.
import { ProtocolError, type RateInForce, type RateName, type Rates } from '@sotto/protocol'
import type { Clock } from '../operations/clock.ts'
import type { Log } from '../operations/log.ts'
import type { RelayMetrics } from '../operations/relay-metrics.ts'
import { RepeatedWarning } from '../operations/repeated-warning.ts'
import type { SecurityLog } from '../operations/security-log.ts'
import { TokenBucket } from '../operations/token-bucket.ts'
import { widerNetworksOf } from './address.ts'

export class RequestRates {
  readonly #rates: Rates
  readonly #clock: Clock
  readonly #exceeded: RepeatedWarning
  readonly #metrics: RelayMetrics
  readonly #securityLog: SecurityLog
  readonly #buckets = new Map<string, TokenBucket>()

  constructor(
    rates: Rates,
    parts: { clock: Clock; log: Log; metrics: RelayMetrics; securityLog: SecurityLog },
  ) {
    this.#metrics = parts.metrics
    this.#securityLog = parts.securityLog
    this.#rates = rates
    this.#clock = parts.clock
    this.#exceeded = new RepeatedWarning('rate_exceeded', parts)
  }

  /**
   * Counts one request of an account or an address, and of the address's wider networks. A request that one
   * of them refuses counts for none.
   * @param count what the request counts, for a rate of bytes
   * @throws ProtocolError `RATE_LIMITED`, with the rate's name and the time to wait
   */
  take(name: RateName, accountOrAddress: string | number, count = 1): void {
    if (!this.#rates) return
    const rate = this.#rates[name]
    const now = this.#clock.monotonic()
    const counted = [{ name: String(accountOrAddress), times: 1 }]
    if (typeof accountOrAddress === 'string') counted.push(...widerNetworksOf(accountOrAddress))
    let waitMs = 0
    for (const who of counted)
      waitMs = Math.max(waitMs, this.#buckets.get(`${name} ${who.name}`)?.waitMs(now, count) ?? 0)
    if (waitMs > 0) {
      const who = typeof accountOrAddress === 'string' ? 'address' : 'account'
      this.#metrics.ratesReached.count(name)
      this.#exceeded.happened({ rate: name, [who]: accountOrAddress })
      this.#securityLog.record('rate_reached', { rate: name, [who]: accountOrAddress })
      throw new ProtocolError('RATE_LIMITED', { limit: name, retryAfterMs: waitMs })
    }
    // Only now are buckets added: an address that its network refuses takes no memory.
    for (const who of counted) {
      const wider = { burst: rate.burst * who.times, perSeconds: rate.perSeconds }
      this.#bucketOf(`${name} ${who.name}`, wider, now).take(now, count)
    }
  }

  /**
   * Counts what an account has already got or sent, also beyond the rate. A negative count is given back.
   * @returns the milliseconds until it is within the rate again; 0 if it is
   */
  charge(name: RateName, account: number, count: number): number {
    if (!this.#rates) return 0
    const now = this.#clock.monotonic()
    return this.#bucketOf(`${name} ${account}`, this.#rates[name], now).charge(now, count)
  }

  #bucketOf(key: string, rate: RateInForce, now: number): TokenBucket {
    const known = this.#buckets.get(key)
    if (known) return known
    const bucket = new TokenBucket(rate, now)
    this.#buckets.set(key, bucket)
    return bucket
  }

  /** Drops the counts that are back to unused. */
  dropUnused(): void {
    const now = this.#clock.monotonic()
    for (const [key, bucket] of this.#buckets) if (bucket.isFull(now)) this.#buckets.delete(key)
  }
}
