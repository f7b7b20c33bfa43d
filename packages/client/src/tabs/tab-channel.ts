// The channel between the tabs of one origin: what they say to each other, versioned, and checked when it arrives.
import * as v from 'valibot'
import { CarriedError } from './carried-error.ts'
import { NetworkState, PublicIdentity } from './events.ts'

/** Raised with every change of what crosses the channel. A tab that hears a higher one than its own retires. */
const CHANNEL_VERSION = 2

/** What every tab knows of the client that one of them runs. */
export const TabState = v.object({
  identity: v.optional(PublicIdentity),
  networkState: NetworkState,
  isLocked: v.boolean(),
  isSealed: v.boolean(),
})
/** See {@link TabState}. */
export type TabState = Readonly<v.InferOutput<typeof TabState>>

const TabMessage = v.variant('type', [
  /** A tab is there, and asks who leads. */
  v.object({ type: v.literal('hello') }),
  /** Who leads, and what all should know: after a hello, and with every change. `leader` is new with every lead. */
  v.object({ type: v.literal('leading'), leader: v.string(), state: TabState }),
  /** Asks the leader to run a method. `again` is true for one asked before, perhaps of another. */
  v.object({
    type: v.literal('call'),
    id: v.string(),
    leader: v.string(),
    method: v.string(),
    args: v.array(v.unknown()),
    again: v.boolean(),
  }),
  /** The leader has heard a call, and works on it. */
  v.object({ type: v.literal('taken'), id: v.string() }),
  v.object({ type: v.literal('answer'), id: v.string(), answer: v.unknown() }),
  v.object({ type: v.literal('failure'), id: v.string(), error: CarriedError }),
  v.object({ type: v.literal('event'), name: v.string(), event: v.unknown() }),
  /** Asks everyone to let the tab `to` lead. */
  v.object({ type: v.literal('hand_over'), to: v.string() }),
])
/** One thing a tab says to all others. */
export type TabMessage = v.InferOutput<typeof TabMessage>

// The version is read before anything else, so its place never changes.
const Envelope = v.object({ version: v.number(), message: v.unknown() })

/** What a channel tells its tab. */
export interface TabChannelListener {
  onMessage(message: TabMessage): void
  /** A tab of a newer version of the app is there. */
  onNewer(): void
  /** What came is not what this version says. */
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

  /** Says something to all other tabs; a closed channel says nothing. Throws for what cannot be copied. */
  post(message: TabMessage): void {
    this.#channel?.postMessage({ version: CHANNEL_VERSION, message })
  }

  #receive(data: unknown): void {
    const envelope = v.safeParse(Envelope, data)
    if (!envelope.success) return this.#listener.onUnreadable(new v.ValiError(envelope.issues))
    const { version, message } = envelope.output
    if (version > CHANNEL_VERSION) return this.#listener.onNewer()
    if (version < CHANNEL_VERSION) {
      // It hears from this that it is outdated, and says no more.
      this.post({ type: 'hello' })
      return
    }
    const parsed = v.safeParse(TabMessage, message)
    if (parsed.success) this.#listener.onMessage(parsed.output)
    else this.#listener.onUnreadable(new v.ValiError(parsed.issues))
  }
}
