// What a client tells its application, and how the application listens.
import type { CallFrameType, ChannelPost, FriendProfile, RelayFrame } from '@sotto/protocol'
import { ClientError } from './client-error.ts'
import type { Engine } from './engine.ts'
import { EventStream, type EventStreamOptions } from './event-stream.ts'
import type { MessageStatus, PublicIdentity, StoredMessage } from './stores/records.ts'

/** Whether there is a connection to the relay. */
export type NetworkState = 'connected' | 'connecting' | 'disconnected'

/** Whether the keys are put away. */
export type LockState = 'locked' | 'unlocked'

/** A contact's keys are not those recorded. Fingerprints are security codes: 60 hex digits. */
export interface SecurityViolationEvent {
  readonly type: 'security_violation'
  readonly contactId: string
  readonly previousFingerprint: string
  readonly currentFingerprint: string
  readonly detectedAt: number
  readonly message: null
}

/** Every event, by name. */
export interface ClientEvents {
  /** A peer's message, once it is stored. */
  message: StoredMessage
  /** An own message came further, or failed. */
  status_change: { readonly message: StoredMessage; readonly previous: MessageStatus }
  /** A message of either side was taken back; its text is gone. */
  retracted: StoredMessage
  network_state: NetworkState
  /** `isLocked` has changed; where tabs share a client, also because another tab has taken over. */
  lock_state: LockState
  /**
   * `identity` is another: made, recovered or deleted, renamed, known by another alias, or out of reach or back again with
   * `lock_state`. Without the phrase.
   */
  identity_changed: { readonly identity: PublicIdentity | undefined }
  /** What was waiting at the relay when the connection was made has been received and stored. */
  synced: { readonly count: number }
  /** A new post of a channel one is subscribed to. */
  channel_post: { readonly channelId: string; readonly post: ChannelPost }
  typing: { readonly fromAliasId: string; readonly conversationId: string }
  /** The relay ended this connection; after `new_device_login` and `account_deleted` the client stays away. */
  goaway: { readonly reason: 'new_device_login' | 'jwt_revoked' | 'account_deleted' }
  payment_confirmed: {
    readonly type: 'payment_confirmed'
    readonly order_id: string
    readonly ref_id: string
  }
  security_violation: SecurityViolationEvent
  /** The friend list shows a request that was not there before. */
  friend_request: FriendProfile
  /** The friend list shows that a request one has sent was accepted. */
  friend_accepted: FriendProfile
  /** Something went wrong that no call of the application is waiting for. */
  error: ClientError
}

/** An event's name. */
export type ClientEventName = keyof ClientEvents
/** Takes one event. */
export type ClientEventHandler<N extends ClientEventName> = (event: ClientEvents[N]) => void

/** What the relay says of calls: the other side's signals, and that one's own was refused. */
export type CallFrameOrRefusal = Extract<RelayFrame, { readonly type: CallFrameType | 'error' }>

type HandlerSets = { [N in ClientEventName]?: Set<ClientEventHandler<N>> }

/** Handlers by event. A handler that throws disturbs nobody else. */
export class Emitter {
  /** Takes the frames of calls, where there is who takes calls. */
  onCall: ((frame: CallFrameOrRefusal) => void) | undefined
  /** Says what calls have to say before an engine stops, while it has a connection and keys. Never rejects. */
  onStop: ((engine: Engine) => Promise<void>) | undefined
  readonly #handlers: HandlerSets = {}
  readonly #streams = new Set<{ end(): void }>()

  /** Adds a handler and returns what removes it. */
  on<N extends ClientEventName>(name: N, handler: ClientEventHandler<N>): () => void {
    const handlers: Set<ClientEventHandler<N>> = this.#handlers[name] ?? new Set()
    // One entry a call: the same function added twice is called twice, and each undo undoes its own.
    const entry: ClientEventHandler<N> = (event) => handler(event)
    handlers.add(entry)
    const sets: { [K in N]?: Set<ClientEventHandler<K>> } = this.#handlers
    sets[name] = handlers
    return () => {
      handlers.delete(entry)
    }
  }

  /** The events of a name from now on, to be read one after another. */
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

  /** Ends every stream: no more events come. */
  end(): void {
    for (const stream of this.#streams) stream.end()
  }

  emit<N extends ClientEventName>(name: N, event: ClientEvents[N]): void {
    for (const handler of [...(this.#handlers[name] ?? [])]) {
      try {
        handler(event)
      } catch (thrown) {
        // A handler of `error` that throws has no one left to tell.
        if (name !== 'error')
          this.emit(
            'error',
            new ClientError('HANDLER_FAILED', `a handler of ${name} threw`, { cause: thrown }),
          )
      }
    }
  }
}
