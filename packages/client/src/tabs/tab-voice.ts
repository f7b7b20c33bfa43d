// What a tab tells its application: the state of the shared client, its events, and that another tab has taken over.
import { ClientError } from '../client-error.ts'
import { type ClientEventName, type ClientEvents, Emitter } from '../events.ts'
import { tellChanges } from '../state-events.ts'
import { isEventName, readEvent } from './events.ts'
import type { TabState } from './tab-channel.ts'

/** The application's side of a tab. */
export class TabVoice {
  readonly emitter = new Emitter()
  readonly #takeoverHandlers = new Set<() => void>()
  #state: TabState = { networkState: 'disconnected', isLocked: false, isSealed: false }

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

  /** Emits an event as another tab sent it. */
  emitCarried(name: string, carried: unknown): void {
    if (isEventName(name)) this.#read(name, carried)
    else this.unreadable(new TypeError(`no such event: ${name}`))
  }

  /** Reports what another tab said and no tab says. */
  unreadable(cause: unknown): void {
    this.emit('error', new ClientError('BAD_REPLY', 'another tab said what no tab says', { cause }))
  }

  onTakeover(handler: () => void): () => void {
    const entry = (): void => handler()
    this.#takeoverHandlers.add(entry)
    return () => this.#takeoverHandlers.delete(entry)
  }

  takenOver(): void {
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
      return this.unreadable(cause)
    }
    this.emit(name, event)
  }
}
