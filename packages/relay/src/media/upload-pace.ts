// How fast one account uploads. Its bytes are read only as fast as its rate allows, and it has only so many
// writes at once, because the runtime keeps up to 2 MiB of each that waits.
import { type Limits, ProtocolError } from '@sotto/protocol'
import type { RequestRates } from '../listener/request-rates.ts'
import type { RawBody } from '../listener/route.ts'
import type { UploadBody } from './incoming.ts'

/** How long a client waits before it tries again to begin a write. Another one has usually ended by then. */
const RETRY_AFTER_MS = 1000

export class UploadPace {
  readonly #limits: Pick<Limits, 'mediaWritesAtOnce'>
  readonly #rates: Pick<RequestRates, 'charge'>
  readonly #running = new Map<number, number>()

  constructor(parts: {
    limits: Pick<Limits, 'mediaWritesAtOnce'>
    rates: Pick<RequestRates, 'charge'>
  }) {
    this.#limits = parts.limits
    this.#rates = parts.rates
  }

  /**
   * Runs a write of an account, with the body's bytes counted for it.
   * @throws ProtocolError `RATE_LIMITED` if too many of its writes are running; and what `write` throws
   */
  async run<T>(account: number, body: RawBody, write: (body: UploadBody) => Promise<T>): Promise<T> {
    const running = this.#running.get(account) ?? 0
    if (running >= this.#limits.mediaWritesAtOnce)
      throw new ProtocolError('RATE_LIMITED', { limit: 'mediaWritesAtOnce', retryAfterMs: RETRY_AFTER_MS })
    this.#running.set(account, running + 1)
    try {
      return await write({ ...body, arrived: (bytes) => this.#rates.charge('uploadBytes', account, bytes) })
    } finally {
      const left = (this.#running.get(account) ?? 1) - 1
      if (left > 0) this.#running.set(account, left)
      else this.#running.delete(account)
    }
  }
}
