// The channel between the tabs of one origin. Its messages have a version and are checked when they arrive.
import * as v from 'valibot'
import { CarriedError } from './carried-error.ts'
import { NetworkState, PublicIdentity } from './carried-events.ts'

/** Raised with every change of the messages. A tab that receives a higher version than its own retires. */
const CHANNEL_VERSION = 6

/** The state of the client that every tab holds. */
export const TabState = v.object({
  identity: v.optional(PublicIdentity),
  networkState: NetworkState,
  isLocked: v.boolean(),
  isSealed: v.boolean(),
  hasPassphrase: v.boolean(),
})
/** See {@link TabState}. */
export type TabState = Readonly<v.InferOutput<typeof TabState>>

const TabMessage = v.variant('type', [
  /** A tab has joined, and asks for the leader. */
  v.object({ type: v.literal('hello') }),
  /**
   * The leader and the client's state: sent after a hello and with every change. Each leader has a new id.
   */
  v.object({ type: v.literal('leading'), leader: v.string(), state: TabState }),
  /** Requests a method from the leader. `again` says that this or another leader was asked before. */
  v.object({
    type: v.literal('request'),
    id: v.string(),
    leader: v.string(),
    method: v.string(),
    args: v.array(v.unknown()),
    again: v.boolean(),
  }),
  /** The leader has accepted a request. */
  v.object({ type: v.literal('taken'), id: v.string() }),
  /** The leader's tab does not have the module whose method was requested, and has done nothing. */
  v.object({ type: v.literal('missing'), id: v.string() }),
  v.object({ type: v.literal('answer'), id: v.string(), answer: v.unknown() }),
  v.object({ type: v.literal('failure'), id: v.string(), error: CarriedError }),
  /** An event of the client or, with a dot in its name, of a module. */
  v.object({ type: v.literal('event'), name: v.string(), event: v.unknown() }),
  /** Asks all tabs to let the tab `to` be the leader. */
  v.object({ type: v.literal('hand_over'), to: v.string() }),
])
/** A message from one tab to all others. */
export type TabMessage = v.InferOutput<typeof TabMessage>

// The version is read before anything else, so its place never changes.
const Envelope = v.object({ version: v.number(), message: v.unknown() })

/** Receives what arrives on the channel. */
export interface TabChannelListener {
  onMessage(message: TabMessage): void
  /** Another tab runs a newer version of the app. */
  onNewer(): void
  /** A message arrived that this version does not have. */
  onUnreadable(error: unknown): void
}

/** One tab's end of the channel. */
export class TabChannel {
  readonly #name: string
  readonly #listener: TabChannelListener
  #channel: BroadcastChannel | undefined

  constructor(name: string, listener: TabChannelListener) {
    this.#name = name
    this.#listener = listener
  }

  open(): void {
    if (this.#channel) return
    const channel = new BroadcastChannel(this.#name)
    this.#channel = channel
    channel.addEventListener('message', ({ data }) => {
      if (this.#channel === channel) this.#receive(data)
    })
    channel.addEventListener('messageerror', () => this.#listener.onUnreadable(undefined))
  }

  close(): void {
    this.#channel?.close()
    this.#channel = undefined
  }

  /** Sends a message to all other tabs; does nothing when closed. Throws if the message cannot be copied. */
  post(message: TabMessage): void {
    this.#channel?.postMessage({ version: CHANNEL_VERSION, message })
  }

  #receive(data: unknown): void {
    const envelope = v.safeParse(Envelope, data)
    if (!envelope.success) return this.#listener.onUnreadable(new v.ValiError(envelope.issues))
    const { version, message } = envelope.output
    if (version > CHANNEL_VERSION) return this.#listener.onNewer()
    if (version < CHANNEL_VERSION) {
      // The older tab sees from any message that it is outdated, and retires.
      this.post({ type: 'hello' })
      return
    }
    const parsed = v.safeParse(TabMessage, message)
    if (parsed.success) this.#listener.onMessage(parsed.output)
    else this.#listener.onUnreadable(new v.ValiError(parsed.issues))
  }
}
