// What waits at the relay under version 3 and is taken back, because the user permits an older version: at
// the relay it holds up all that the contact's older client could read.
import { type ConversationId, conversationEndpoints } from '@sotto/protocol'
import { ClientError } from '../client-error.ts'
import type { OutboxIntent, SessionRecord, StoreChange, StoredMessage } from '../stores/stores.ts'
import type { ForwardContext } from './forward-context.ts'
import type { RunningCourse } from './running-course.ts'

/** More requests than any mailbox needs. */
const MOST_REQUESTS = 100

export interface WithdrawnParts {
  readonly context: Pick<ForwardContext, 'emitter' | 'http' | 'journal' | 'outbox' | 'sessions' | 'store'>
  readonly courseOf: (conversationId: ConversationId) => RunningCourse
  /** Whether this connection has its `sync_end`: what an earlier one sent has arrived or never will. */
  readonly isSynced: () => boolean
  /** Tries again after a while. */
  readonly again: (conversationId: ConversationId) => void
}

/** The messages of one identity that are taken back. */
export class WithdrawnMessages {
  readonly #parts: WithdrawnParts
  /** The conversations of which nothing of version 3 waits at the relay. */
  readonly #taken = new Set<ConversationId>()
  /** Counts the connections: the answers of one that is gone do not count. */
  #connection = 0

  constructor(parts: WithdrawnParts) {
    this.#parts = parts
  }

  onDown(): void {
    this.#connection += 1
    this.#taken.clear()
  }

  /** Whether other messages wait, so that those which are taken back leave before them. */
  holds({ conversationId, lowered }: SessionRecord): boolean {
    return lowered === true && !this.#taken.has(conversationId)
  }

  /** Something came to the relay under version 3 after all, so it has to be asked once more. */
  came(conversationId: ConversationId): void {
    this.#taken.delete(conversationId)
  }

  /**
   * Takes back what is at the relay, puts it into the outbox, not encrypted, before all others, and encrypts
   * it for the older version. If that is not possible now, it is tried again.
   */
  async take({ conversationId }: SessionRecord, encrypt: () => Promise<void>): Promise<void> {
    const { context, isSynced, again } = this.#parts
    // The next `sync_end` brings it here again.
    if (!isSynced()) return
    const connection = this.#connection
    try {
      if (!this.#taken.has(conversationId)) {
        // What is on its way comes to the relay first.
        if (context.outbox.inFlight(conversationId).some(({ version }) => version === 3))
          return again(conversationId)
        const ids = await this.#ask(conversationId)
        await this.#putBack(conversationId, ids)
        if (connection !== this.#connection) return
        await this.#openSealed(conversationId)
      }
      await encrypt()
      if (connection === this.#connection) this.#taken.add(conversationId)
    } catch (error) {
      if (!(error instanceof ClientError) || (error.code !== 'NETWORK' && error.code !== 'REFUSED'))
        throw error
      if (connection === this.#connection) again(conversationId)
    }
    context.outbox.resume()
  }

  /** The relay tells of one message that was taken back: perhaps by an earlier run, or its reply was lost. */
  async told(conversationId: ConversationId, id: string): Promise<void> {
    await this.#putBack(conversationId, [id])
  }

  async #ask(conversationId: ConversationId): Promise<readonly string[]> {
    const { http } = this.#parts.context
    const params = { conv_id: conversationId }
    const all: string[] = []
    for (let request = 0; request < MOST_REQUESTS; request++) {
      try {
        const { ids } = await http.call(conversationEndpoints.withdrawMessages, { params })
        if (ids.length === 0) break
        all.push(...ids)
      } catch (error) {
        // An older relay takes nothing back, and one where the two have parted has nothing.
        if (error instanceof ClientError && error.refusal === 'NOT_FOUND') break
        throw error
      }
    }
    return all
  }

  // What only the clients need is in no history. The contact asks for it when it has version 3 again.
  async #putBack(conversationId: ConversationId, ids: readonly string[]): Promise<void> {
    const { emitter, outbox, sessions, store } = this.#parts.context
    const toAliasId = sessions.find(conversationId)?.theirAliasId
    if (toAliasId === undefined) return
    const first = Math.min(...outbox.list(conversationId).map(({ addedAt }) => addedAt))
    for (const id of ids) {
      const message = await store.findMessage(conversationId, true, id)
      if (message?.version !== 3 || message.status !== 'sent' || message.retracted || message.removed)
        continue
      const { seq: _, ...before } = message
      const waiting: StoredMessage = { ...before, status: 'sending' }
      const { text, replyToId } = message
      const intent: OutboxIntent = {
        ...{ internalId: message.id, conversationId, toAliasId, text, version: 3 },
        // Before all that still waits: those were written after it.
        addedAt: Math.max(0, Math.min(message.time, first - 1)),
        ...(replyToId === undefined ? {} : { replyToId }),
      }
      await this.#fails(intent, [
        { change: 'message', message: waiting },
        { change: 'outbox_added', intent },
      ])
      outbox.accept(intent)
      emitter.emit('status_change', { message: waiting, previous: message.status })
    }
  }

  // What is encrypted and not at the relay never comes to the contact under version 3.
  async #openSealed(conversationId: ConversationId): Promise<void> {
    const { outbox } = this.#parts.context
    const inFlight = new Set(outbox.inFlight(conversationId))
    for (const intent of outbox.list(conversationId)) {
      if (intent.version !== 3 || intent.payload === undefined || inFlight.has(intent)) continue
      const { payload: _, epoch: _epoch, place: _place, ...opened } = intent
      await this.#fails(opened, [{ change: 'outbox_added', intent: opened }])
      outbox.replace(opened)
    }
  }

  /** Takes a message out of the course, with other changes of the same write. */
  async #fails(
    { conversationId, internalId: id }: OutboxIntent,
    changes: readonly StoreChange[],
  ): Promise<void> {
    const made = await this.#parts.courseOf(conversationId).give({ type: 'failed', id }, changes)
    if (made === 'no_keys') await this.#parts.context.journal.write(changes)
  }
}
