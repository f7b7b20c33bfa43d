// Events read at the reader's own pace: a bounded buffer behind an async iterator, honest about what it could not hold.
import { ClientError } from './client-error.ts'

const DEFAULT_LIMIT = 1000

/** How a stream of events is read. */
export interface EventStreamOptions {
  /** Ends the stream at once; what was not read yet is dropped. */
  readonly signal?: AbortSignal
  /** Events held for a slow reader, at most. 1000 unless told. */
  readonly limit?: number
}

/**
 * Events, from its making on. Ends with the client (after what is held was read), the signal, or the reader leaving the
 * loop. A reader slower than the events gets those held, and then an `EVENTS_LOST`: never a gap it does not know of.
 */
export class EventStream<Event> implements AsyncIterableIterator<Event, undefined> {
  readonly #limit: number
  readonly #signal: AbortSignal | undefined
  readonly #onEnd: () => void
  /** In boxes, since an event may be anything. */
  readonly #held: { readonly event: Event }[] = []
  readonly #readers: ((result: IteratorResult<Event, undefined>) => void)[] = []
  #state: 'open' | 'ended' | 'lost' = 'open'

  /** @param onEnd is called once, when nothing more is to be put in */
  constructor({ limit = DEFAULT_LIMIT, signal }: EventStreamOptions, onEnd: () => void) {
    if (!Number.isSafeInteger(limit) || limit < 1)
      throw new ClientError('INVALID_ARGUMENT', 'the limit of a stream is a whole number from 1')
    this.#limit = limit
    this.#signal = signal
    this.#onEnd = onEnd
    signal?.addEventListener('abort', this.#drop)
    if (signal?.aborted) this.#drop()
  }

  /** Puts an event in. */
  put(event: Event): void {
    if (this.#state !== 'open') return
    const reader = this.#readers.shift()
    if (reader) reader({ done: false, value: event })
    else if (this.#held.length < this.#limit) this.#held.push({ event })
    else this.#stop('lost')
  }

  /** Puts nothing more in; what is held can still be read. */
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
