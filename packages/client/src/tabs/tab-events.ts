// What a tab reports to its application: the state of the shared client, its events, and changes of the
// leader.
import { ClientError } from '../client-error.ts'
import { type ClientEventName, type ClientEvents, Emitter, tellChanges } from '../events/events.ts'
import { isEventName, readEvent } from './carried-events.ts'
import type { TabState } from './tab-channel.ts'

/** The state and the events of the shared client, as the application of one tab receives them. */
export class TabEvents {
  readonly emitter = new Emitter()
  readonly #takeoverHandlers = new Set<() => void>()
  #state: TabState = { networkState: 'disconnected', isLocked: false, isSealed: false, hasPassphrase: false }

  get state(): TabState {
    return this.#state
  }

  setState(state: TabState): void {
    const before = this.#state
    this.#state = state
    if (state.networkState !== before.networkState) this.emitter.emit('network_state', state.networkState)
    tellChanges(this.emitter, before, state)
  }

  setNetworkState(networkState: TabState['networkState']): void {
    this.setState({ ...this.#state, networkState })
  }

  emit<N extends ClientEventName>(name: N, event: ClientEvents[N]): void {
    this.emitter.emit(name, event)
  }

  /** Emits an event that another tab sent. */
  emitCarried(name: string, carried: unknown): void {
    if (isEventName(name)) this.#read(name, carried)
    else this.reportUnreadable(new TypeError(`no such event: ${name}`))
  }

  /** Reports a message that no tab of this version sends. */
  reportUnreadable(cause: unknown): void {
    this.emit(
      'error',
      new ClientError('BAD_REPLY', 'another tab sent a message that cannot be read', { cause }),
    )
  }

  onTakeover(handler: () => void): () => void {
    const entry = (): void => handler()
    this.#takeoverHandlers.add(entry)
    return () => this.#takeoverHandlers.delete(entry)
  }

  emitTakeover(): void {
    this.emit('changes', [{ kind: 'everything' }])
    for (const handler of [...this.#takeoverHandlers]) {
      try {
        handler()
      } catch (cause) {
        this.emit('error', new ClientError('HANDLER_FAILED', 'a handler of a takeover threw', { cause }))
      }
    }
  }

  #read<N extends ClientEventName>(name: N, carried: unknown): void {
    let event: ClientEvents[N]
    try {
      event = readEvent[name](carried)
    } catch (cause) {
      return this.reportUnreadable(cause)
    }
    this.emit(name, event)
  }
}
