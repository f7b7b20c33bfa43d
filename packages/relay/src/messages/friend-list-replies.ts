// Records which conversations a reply of `/friends` has named to an account, so that their first messages
// need not wait for it any more (held-conversations.ts).
import type { ConversationId, Limits } from '@sotto/protocol'
import type { Bus } from '../cluster/bus.ts'
import type { Log } from '../operations/log.ts'
import { ROWS_PER_SLICE } from '../operations/slices.ts'
import type { AccountId, Sql, Storage } from '../storage/storage.ts'
import { lockConversations } from './conversations.ts'

interface Unlisted {
  id: number
  conv_id: ConversationId
  unlisted_since: number
}

export interface FriendListReplyParts {
  readonly storage: Storage
  readonly bus: Bus
  readonly limits: Pick<Limits, 'listedSeconds'>
  readonly log: Log
}

export class FriendListReplies {
  readonly #parts: FriendListReplyParts
  readonly #timers = new Set<ReturnType<typeof setTimeout>>()
  readonly #recording = new Set<Promise<void>>()

  constructor(parts: FriendListReplyParts) {
    this.#parts = parts
  }

  /**
   * Call this just before a reply leaves. The store learns of it only after the time that the client gets to
   * read the reply: if the process ends before, messages wait longer, and none is lost.
   * @param signal aborts if the client goes away before it has the reply, which then does not count
   */
  async leaving(
    account: AccountId,
    conversations: readonly ConversationId[],
    signal: AbortSignal,
  ): Promise<void> {
    if (conversations.length === 0) return
    const unlisted = await this.#parts.storage.sql<Unlisted>`
      SELECT conversations.id, conversations.conv_id, lanes.unlisted_since FROM lanes
      JOIN conversations ON conversations.id = lanes.conversation_id
      WHERE lanes.recipient_id = ${account} AND lanes.unlisted_since > 0
      ORDER BY conversations.id`
    if (unlisted.length === 0) return
    const named = new Set(conversations)
    const rows = unlisted.filter(({ conv_id }) => named.has(conv_id))
    this.#ring('listing', account, rows)
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      if (!signal.aborted) this.#record(account, rows)
    }, this.#parts.limits.listedSeconds * 1000)
    this.#timers.add(timer)
  }

  /** Records nothing more. Resolves once what began is stored. */
  async stop(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer)
    this.#timers.clear()
    await Promise.all(this.#recording)
  }

  #record(account: AccountId, rows: readonly Unlisted[]): void {
    const recording = this.#write(account, rows)
      .catch((error) => this.#parts.log.error('friend_list_reply_failed', { error, account }))
      .finally(() => this.#recording.delete(recording))
    this.#recording.add(recording)
  }

  async #write(account: AccountId, rows: readonly Unlisted[]): Promise<void> {
    for (let start = 0; start < rows.length; start += ROWS_PER_SLICE) {
      const slice = rows.slice(start, start + ROWS_PER_SLICE)
      await this.#parts.storage.unsyncedTransaction((sql) => markListed(sql, account, slice))
      this.#ring('listed', account, slice)
    }
  }

  #ring(kind: 'listing' | 'listed', account: AccountId, rows: readonly Unlisted[]): void {
    const conversations = new Map(rows.map((row) => [row.conv_id, row.unlisted_since]))
    this.#parts.bus.ring(account, { kind, conversations })
  }
}

// A renewed acceptance after the reply stays unlisted.
async function markListed(sql: Sql, account: AccountId, rows: readonly Unlisted[]): Promise<void> {
  await lockConversations(
    sql,
    rows.map(({ id }) => id),
  )
  for (const { id, unlisted_since } of rows) {
    await sql`
      UPDATE lanes SET unlisted_since = 0
      WHERE conversation_id = ${id} AND recipient_id = ${account} AND unlisted_since = ${unlisted_since}`
  }
}
