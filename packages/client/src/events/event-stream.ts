// A stream of events: an async iterator with a bounded buffer, which reports lost events.
import { ClientError } from '../client-error.ts'

const DEFAULT_LIMIT = 1000

/** Options of `events`. */
export interface EventStreamOptions {
  /** Ends the stream at once, and drops the events that were not read. */
  readonly signal?: AbortSignal
  /** The maximum of events held for a slow reader; 1000 by default. */
  readonly limit?: number
}

/**
 * The events since the stream was created. It ends when the client is closed (after the held events were
 * read), when the signal is aborted, or when the reader leaves the loop. A reader that is too slow gets the
 * held events, then `EVENTS_LOST`. So it always learns of a gap.
 */
export class EventStream<Event> implements AsyncIterableIterator<Event, undefined> {
  readonly #limit: number
  readonly #signal: AbortSignal | undefined
  readonly #onEnd: () => void
  /** Each event in an object, because an event may be undefined. */
  readonly #held: { readonly event: Event }[] = []
  readonly #readers: ((result: IteratorResult<Event, undefined>) => void)[] = []
  #state: 'open' | 'ended' | 'lost' = 'open'

  /** @param onEnd called once, when the stream takes no more events */
  constructor({ limit = DEFAULT_LIMIT, signal }: EventStreamOptions, onEnd: () => void) {
    if (!Number.isSafeInteger(limit) || limit < 1)
      throw new ClientError('INVALID_ARGUMENT', 'the limit of a stream is a whole number from 1')
    this.#limit = limit
    this.#signal = signal
    this.#onEnd = onEnd
    signal?.addEventListener('abort', this.#drop)
    if (signal?.aborted) this.#drop()
  }

  /** Adds an event. */
  put(event: Event): void {
    if (this.#state !== 'open') return
    const reader = this.#readers.shift()
    if (reader) reader({ done: false, value: event })
    else if (this.#held.length < this.#limit) this.#held.push({ event })
    else this.#stop('lost')
  }

  /** Ends the stream. The held events can still be read. */
  end(): void {
    if (this.#state === 'open') this.#stop('ended')
  }

  next(): Promise<IteratorResult<Event, undefined>> {
    const held = this.#held.shift()
    if (held) return Promise.resolve({ done: false, value: held.event })
    if (this.#state === 'lost') {
      this.#state = 'ended'
      const error = new ClientError(
        'EVENTS_LOST',
        `more than ${this.#limit} events came unread: some are lost`,
      )
      return Promise.reject(error)
    }
    if (this.#state === 'ended') return Promise.resolve({ done: true, value: undefined })
    return new Promise((resolve) => this.#readers.push(resolve))
  }

  return(): Promise<IteratorResult<Event, undefined>> {
    this.#drop()
    return Promise.resolve({ done: true, value: undefined })
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  readonly #drop = (): void => {
    this.#held.length = 0
    if (this.#state === 'lost') this.#state = 'ended'
    this.end()
  }

  #stop(state: 'ended' | 'lost'): void {
    this.#state = state
    this.#signal?.removeEventListener('abort', this.#drop)
    this.#onEnd()
    for (const reader of this.#readers.splice(0)) reader({ done: true, value: undefined })
  }
}
