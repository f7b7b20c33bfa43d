// Delivers events to the application's handlers and streams.
import { ClientError } from '../client-error.ts'
import type { ClientEventHandler, ClientEventName, ClientEvents } from './client-events.ts'
import { EventStream, type EventStreamOptions } from './event-stream.ts'

type HandlerSets = { [N in ClientEventName]?: Set<ClientEventHandler<N>> }

/** The handlers and streams by event. A handler that throws does not affect the others. */
export class Emitter {
  readonly #handlers: HandlerSets = {}
  readonly #streams = new Set<{ end(): void }>()

  /** Adds a handler. Returns a function that removes it. */
  on<N extends ClientEventName>(name: N, handler: ClientEventHandler<N>): () => void {
    const handlers: Set<ClientEventHandler<N>> = this.#handlers[name] ?? new Set()
    // One entry per call: a function added twice is called twice, and each returned function removes one
    // entry.
    const entry: ClientEventHandler<N> = (event) => handler(event)
    handlers.add(entry)
    const sets: { [K in N]?: Set<ClientEventHandler<K>> } = this.#handlers
    sets[name] = handlers
    return () => {
      handlers.delete(entry)
    }
  }

  /** A stream of the events of this name from now on. */
  stream<N extends ClientEventName>(name: N, options: EventStreamOptions): EventStream<ClientEvents[N]> {
    const undo: (() => void)[] = []
    const stream = new EventStream<ClientEvents[N]>(options, () => {
      for (const each of undo) each()
    })
    if (options.signal?.aborted) return stream
    this.#streams.add(stream)
    undo.push(
      this.on(name, (event) => stream.put(event)),
      () => this.#streams.delete(stream),
    )
    return stream
  }

  /** Ends every stream, because no more events come. */
  end(): void {
    for (const stream of this.#streams) stream.end()
  }

  emit<N extends ClientEventName>(name: N, event: ClientEvents[N]): void {
    for (const handler of [...(this.#handlers[name] ?? [])]) {
      try {
        handler(event)
      } catch (thrown) {
        // An error of an `error` handler is dropped, as reporting it would call that handler again.
        if (name !== 'error')
          this.emit(
            'error',
            new ClientError('HANDLER_FAILED', `a handler of ${name} threw`, { cause: thrown }),
          )
      }
    }
  }
}
