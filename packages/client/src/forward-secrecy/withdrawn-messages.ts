// What waits at the relay under version 3 and is taken back, because the user permits an older version: at
// the relay it holds up all that the contact's older client could read.
import { type ConversationId, conversationEndpoints } from '@sotto/protocol'
import { ClientError } from '../client-error.ts'
import { SerialQueue } from '../platform/platform.ts'
import type { OutboxIntent, SessionRecord, StoreChange, StoredMessage } from '../stores/stores.ts'
import type { ForwardContext } from './forward-context.ts'
import type { RunningCourse } from './running-course.ts'

/** How long to wait before the relay is asked again, in milliseconds. */
const RETRY_MS = 5000
/** More requests than any mailbox needs. */
const MOST_REQUESTS = 100
/** Puts what is taken back before all that has no place in the outbox yet, in the order of its `seq`. */
const FIRST_PLACE = Number.MIN_SAFE_INTEGER

/** A message that the relay has erased. */
interface Withdrawn {
  readonly id: string
  readonly seq: number
}

/** What becomes of a message. Without an intent, nothing is left of it to send. */
interface Changes {
  readonly intent?: OutboxIntent
  readonly message?: StoredMessage
  readonly previous?: StoredMessage['status']
}

export interface WithdrawnParts {
  readonly context: Pick<ForwardContext, 'emitter' | 'http' | 'journal' | 'outbox' | 'sessions' | 'store'>
  readonly courseOf: (conversationId: ConversationId) => RunningCourse
  /** Whether this connection has its `sync_end`: what an earlier one sent has arrived or never will. */
  readonly isSynced: () => boolean
  /** Encrypts what waits in a conversation, which begins with `take`. */
  readonly seal: (conversationId: ConversationId) => void
  readonly later: (ms: number, run: () => void) => void
}

/** The messages of one identity that are taken back. */
export class WithdrawnMessages {
  readonly #parts: WithdrawnParts
  /** One after the other, so that nothing is put back twice or leaves before what is put back. */
  readonly #queue = new SerialQueue()
  /** The conversations of which nothing of version 3 waits at the relay. */
  readonly #taken = new Set<ConversationId>()
  /** The conversations that are tried again soon. */
  readonly #again = new Set<ConversationId>()
  /** What belongs to a connection that is gone does nothing. */
  #connection = new AbortController()

  constructor(parts: WithdrawnParts) {
    this.#parts = parts
  }

  onDown(): void {
    this.#connection.abort()
    this.#connection = new AbortController()
    this.#taken.clear()
  }

  /** Whether the messages of a contact wait, so that those which are taken back leave before them. */
  holds({ conversationId, lowered }: SessionRecord): boolean {
    return lowered === true && !this.#taken.has(conversationId)
  }

  /** Something of version 3 may be at the relay, so it has to be asked. */
  mayBeThere(conversationId: ConversationId): void {
    this.#taken.delete(conversationId)
  }

  /**
   * Takes back what is at the relay, puts it into the outbox before all others, and encrypts it for the older
   * version. If that is not possible now, it is tried again.
   */
  async take(
    conversationId: ConversationId,
    encrypt: (session: SessionRecord) => Promise<void>,
  ): Promise<void> {
    const { context, isSynced } = this.#parts
    // `sync_end` brings it here again, behind what the relay has told before.
    if (!isSynced()) return
    await this.#queue.run(async () => {
      const { signal } = this.#connection
      if (!isSynced()) return
      try {
        if (!this.#taken.has(conversationId)) {
          // What is on its way comes to the relay first.
          const inFlight = context.outbox.inFlight(conversationId)
          if (inFlight.some(({ version }) => version === 3)) return this.#tryAgain(conversationId)
          await this.#ask(conversationId, signal)
          await this.#open(conversationId)
        }
        const session = this.#lowered(conversationId)
        if (!session || signal.aborted) return
        await encrypt(session)
        if (!signal.aborted && this.#lowered(conversationId)) this.#taken.add(conversationId)
      } catch (error) {
        if (signal.aborted) return
        if (!(error instanceof ClientError) || (error.code !== 'NETWORK' && error.code !== 'REFUSED'))
          throw error
        this.#tryAgain(conversationId)
      }
      context.outbox.resume()
    })
  }

  /** The relay tells of a message that was taken back: perhaps by an earlier run, or its reply was lost. */
  async told(conversationId: ConversationId, withdrawn: Withdrawn): Promise<void> {
    this.mayBeThere(conversationId)
    await this.#queue.run(() => this.#putBack(conversationId, [withdrawn]))
  }

  #tryAgain(conversationId: ConversationId): void {
    if (this.#again.has(conversationId)) return
    this.#again.add(conversationId)
    this.#parts.later(RETRY_MS, () => {
      this.#again.delete(conversationId)
      this.#parts.seal(conversationId)
    })
  }

  #lowered(conversationId: ConversationId): SessionRecord | undefined {
    const session = this.#parts.context.sessions.find(conversationId)
    return session?.lowered ? session : undefined
  }

  async #ask(conversationId: ConversationId, signal: AbortSignal): Promise<void> {
    const { http } = this.#parts.context
    const params = { conv_id: conversationId }
    for (let request = 0; request < MOST_REQUESTS && this.#lowered(conversationId); request++) {
      try {
        const { messages } = await http.call(conversationEndpoints.withdrawMessages, { params }, { signal })
        if (messages.length === 0) return
        await this.#putBack(conversationId, messages)
      } catch (error) {
        // An older relay takes nothing back, and one where the two have parted has nothing.
        const isOlder = error instanceof ClientError && error.code === 'BAD_REPLY'
        if (isOlder || (error instanceof ClientError && error.refusal === 'NOT_FOUND')) return
        throw error
      }
    }
  }

  // In the order of `seq`, which the outbox keeps also over a restart.
  async #putBack(conversationId: ConversationId, withdrawn: readonly Withdrawn[]): Promise<void> {
    const course = this.#parts.courseOf(conversationId)
    for (const each of withdrawn) {
      const { id, seq } = each
      const waiting = this.#parts.context.outbox.find(id)
      // Its `ack` was lost: the course still waits for it. If version 3 goes on, it just leaves once more.
      if (waiting?.version === 3 && !this.#lowered(conversationId)) continue
      if (waiting?.version === 3) await course.give({ type: 'accepted', id, seq })
      if (!(await course.alone(() => this.#changesOf(conversationId, each)))) continue
      // The course forgets it first, because it may encrypt no id twice.
      await course.give({ type: 'failed', id })
      await course.alone(() => this.#restore(conversationId, each))
    }
  }

  /** Runs when all that the course had to store is stored: that may be the `ack`, or an edit. */
  async #restore(conversationId: ConversationId, withdrawn: Withdrawn): Promise<void> {
    const { emitter, journal, outbox } = this.#parts.context
    const made = await this.#changesOf(conversationId, withdrawn)
    if (!made) return
    const { intent, message, previous } = made
    // Of an acknowledgement nothing is left.
    if (!intent) return outbox.drop(withdrawn.id)
    const changes: StoreChange[] = message ? [{ change: 'message', message }] : []
    await journal.write([...changes, { change: 'outbox_added', intent }])
    if (outbox.find(intent.internalId)) outbox.replace(intent)
    else outbox.accept(intent)
    if (message && previous) emitter.emit('status_change', { message, previous })
  }

  /** What a message becomes; undefined if it stays as it is. */
  async #changesOf(conversationId: ConversationId, { id, seq }: Withdrawn): Promise<Changes | undefined> {
    const { outbox, sessions, store } = this.#parts.context
    const message = await store.findMessage(conversationId, true, id)
    const place = FIRST_PLACE + seq
    const before = outbox.find(id)
    if (before?.version === 3) {
      const { payload: _, epoch: _epoch, ...opened } = { ...before, place }
      return message || opened.resends ? { intent: opened } : {}
    }
    const toAliasId = sessions.find(conversationId)?.theirAliasId
    if (toAliasId === undefined || !message || before || message.retracted) return undefined
    const intent: OutboxIntent = {
      ...{ internalId: message.id, conversationId, toAliasId, text: message.text },
      ...{ addedAt: message.time, version: 3, place },
    }
    // A hidden message has no number in the history.
    if (message.about) return { intent: { ...intent, about: message.about } }
    // An id that was taken back and used again has another number. A mark of a later message may have come
    // before the word of the relay that this one was erased.
    if (message.seq !== seq || message.status === 'failed' || message.removed) return undefined
    const { seq: _, replyToId, ...rest } = message
    const reply = replyToId === undefined ? {} : { replyToId }
    const previous = message.status
    return { intent: { ...intent, ...reply }, message: { ...rest, ...reply, status: 'sending' }, previous }
  }

  // What is encrypted and not at the relay never comes to the contact under version 3. The last one first, so
  // that the course can forget each.
  async #open(conversationId: ConversationId): Promise<void> {
    const { outbox, store } = this.#parts.context
    for (const intent of outbox.list(conversationId).toReversed()) {
      const { internalId: id, version, payload, about, resends } = intent
      if (version !== 3 || payload === undefined) continue
      const { payload: _, epoch: _epoch, place: _place, ...opened } = intent
      const change: StoreChange = { change: 'outbox_added', intent: opened }
      const made = await this.#parts.courseOf(conversationId).give({ type: 'failed', id }, [change])
      if (typeof made === 'string') return
      const isNeeded = about || resends || (await store.findMessage(conversationId, true, id))
      if (isNeeded) outbox.replace(opened)
      else await outbox.drop(id)
    }
  }
}
