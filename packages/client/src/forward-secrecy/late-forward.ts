// Version 3 as the engine and the messages use it: its script is loaded when something needs it. Only an
// application that passes `forwardSecrecy()` has this in its build.
import type { ConversationId, RelayFrame } from '@sotto/protocol'
import { asClientError } from '../client-error.ts'
import type { Forward, MessageOfContact } from '../messages/messages.ts'
import type { OutboxIntent, SessionRecord, StoreChange } from '../stores/stores.ts'
import type { ForwardContext } from './forward-context.ts'
import type * as part from './forward-secrecy.ts'
import type { ForwardSecrecy } from './forward-secrecy.ts'
import { KnownGroups } from './known-groups.ts'

/** What the engine gives. The messages are made later, with this as a part of them. */
export interface LateContext
  extends Omit<ForwardContext, 'outbox' | 'confirmations' | 'settings' | 'speaks'> {
  readonly messages: () => Pick<ForwardContext, 'outbox' | 'confirmations' | 'settings'>
  readonly isConnected: () => boolean
}

/** Version 3 of one identity, before and after its script is loaded. */
export class LateForward implements Forward {
  readonly #context: LateContext
  readonly #load: () => Promise<typeof part>
  readonly #groups: KnownGroups
  #part: Promise<ForwardSecrecy> | undefined
  #open: ForwardSecrecy | undefined
  #announcer: string | undefined
  /** Whether the relay has what version 3 needs. */
  #hasEpochs = false
  /** This connection's `sync_end`, until version 3 goes on. */
  #synced: { readonly incarnation: string | undefined } | undefined
  /** Counts the connections: what belongs to one that is gone does nothing. */
  #connection = 0
  #isStopped = false
  /** What the relay says was taken back, until the script is there. */
  readonly #withdrawn: Extract<RelayFrame, { readonly type: 'error' }>[] = []

  constructor(context: LateContext, load: () => Promise<typeof part>) {
    this.#context = context
    this.#load = load
    this.#groups = new KnownGroups({
      ...context,
      onSpeaks: (conversationId) => this.onAnnounced(conversationId),
      onAnswer: () => context.messages().outbox.resume(),
      report: (error) => this.#report(error),
    })
  }

  get announcer(): string | undefined {
    return this.#announcer
  }

  /** @param features what the relay has */
  onOpen(features: readonly string[]): void {
    this.#hasEpochs = features.includes('epochs')
  }

  onDown(): void {
    this.#connection += 1
    this.#synced = undefined
    this.#open?.onDown()
  }

  /** Every frame that waited was handled. Who has no contacts needs nothing of this yet. */
  onSynced(incarnation: string | undefined, hasContacts: boolean): void {
    // The frames of a connection may be handled after its end.
    if (!this.#context.isConnected()) return
    this.#synced = { incarnation }
    if (this.#part || hasContacts) this.goOn()
  }

  /** Once on a connection. Version 3 needs key packages at the relay before anybody is told of it. */
  goOn(): void {
    const synced = this.#synced
    if (!synced) return
    const connection = this.#connection
    this.#synced = undefined
    const begun = this.part().then(async (part) => {
      if (connection !== this.#connection) return
      await part.onSynced(synced.incarnation)
      this.#announcer = await part.fillStock()
    })
    void this.#context.work(
      begun.catch((error: unknown) => {
        // Its script was not there. The next use loads it.
        if (!this.#open && connection === this.#connection) this.#synced = synced
        this.#report(error)
      }),
    )
  }

  /** The relay has few key packages of this device left. */
  onPackagesLow(): void {
    this.#run((part) => part.fillStock())
  }

  /** Another device of the account has connected. */
  onOtherDevice(): void {
    this.#open?.onOtherDevice()
  }

  /** Contacts have become known. */
  onReadable(): void {
    this.#open?.onReadable()
  }

  knows(session: SessionRecord): boolean {
    if (!this.#hasEpochs) return true
    if (session.lowered && (this.#open?.holds(session) ?? true)) {
      if (!this.#open) this.seal(session.conversationId)
      return false
    }
    return this.#groups.knows(session)
  }

  /** See `KnownGroups.speaks`. */
  speaks(session: SessionRecord): Promise<boolean> {
    return this.#groups.speaks(session)
  }

  onAnnounced(conversationId: ConversationId): void {
    this.#run((part) => part.onAnnounced(conversationId))
  }

  async receive(
    frame: Extract<RelayFrame, { readonly type: 'msg' }>,
    following: readonly RelayFrame[],
  ): Promise<void> {
    try {
      await (await this.part()).receive(frame, following)
    } catch (error) {
      this.#context.messages().confirmations.hold(frame.conv_id)
      this.#report(error)
    }
  }

  seal(conversationId: ConversationId): void {
    this.#run((part) => part.seal(conversationId))
  }

  accepted(intent: MessageOfContact, seq: number, changes: readonly StoreChange[], after: () => void): void {
    this.#run((part) => part.accepted(intent, seq, changes, after))
  }

  failed(intent: MessageOfContact, changes: readonly StoreChange[], after: () => void): void {
    this.#run((part) => part.failed(intent, changes, after))
  }

  stale(intent: OutboxIntent, epoch: number): void {
    this.#run((part) => part.stale(intent, epoch))
  }

  async onFrame(frame: RelayFrame): Promise<boolean> {
    if (frame.type === 'delivered' || frame.type === 'read') {
      // Without its script nothing is being written.
      await (await this.#part?.catch(() => undefined))?.settled(frame.conv_id)
      return false
    }
    if (frame.type !== 'ack' && frame.type !== 'error') return false
    if (frame.type === 'ack' || frame.error !== 'WITHDRAWN') return this.#open?.onAnswer(frame) ?? false
    // It may be about what an earlier run had sent. The relay tells it once.
    this.#withdrawn.push(frame)
    this.#run((part) => this.#giveWithdrawn(part))
    return true
  }

  /** The loaded part. @throws ClientError `NETWORK` if its script cannot be loaded, and as `open` does */
  part(): Promise<ForwardSecrecy> {
    this.#part ??= this.#openPart().catch((error: unknown) => {
      // The next use tries again.
      this.#part = undefined
      throw error
    })
    return this.#part
  }

  /** Nothing is told of what fails from now on. */
  endReports(): void {
    this.#isStopped = true
  }

  /** Stops permanently, once the work under way is stored. */
  async stop(): Promise<void> {
    await (await this.#part?.catch(() => undefined))?.stop()
  }

  async #giveWithdrawn(part: ForwardSecrecy): Promise<void> {
    await Promise.all(this.#withdrawn.splice(0).map((frame) => part.onWithdrawn(frame)))
  }

  async #openPart(): Promise<ForwardSecrecy> {
    const { ForwardSecrecy } = await this.#load()
    const { messages, ...context } = this.#context
    const part = await ForwardSecrecy.open({
      ...context,
      ...messages(),
      speaks: (session) => this.#groups.speaks(session),
    })
    this.#open = part
    this.#run((opened) => this.#giveWithdrawn(opened))
    this.goOn()
    return part
  }

  #run(use: (part: ForwardSecrecy) => unknown): void {
    const used = this.part().then(use)
    void this.#context.work(used.catch((error: unknown) => this.#report(error)))
  }

  #report(error: unknown): void {
    if (!this.#isStopped) this.#context.emitter.emit('error', asClientError(error, 'STORE_FAILED'))
  }
}
