// A store in the browser: an IndexedDB database with a table per kind of record. It keeps no data in memory.
import { type ConversationId, check, FriendProfile } from '@sotto/protocol'
import * as v from 'valibot'
import { ClientError } from '../client-error.ts'
import { grantSlots } from './erasure-slots.ts'
import { openDatabase } from './indexeddb-open.ts'
import { storeFailure, WorkQueue } from './indexeddb-queue.ts'
import { done, seqOf, startingWith } from './indexeddb-request.ts'
import { readSummaries, writeSummaries } from './indexeddb-summaries.ts'
import { MessageRow, messageName, WITHOUT_SEQ, writeChanges } from './indexeddb-writes.ts'
import {
  AppRecord,
  CallRecord,
  ConversationSettings,
  ConversationSummary,
  latestFirst,
  type MessageStatus,
  OfflineMessage,
  OutboxIntent,
  ReadMark,
  RetractIntent,
  SessionRecord,
  type StoreChange,
  StoredIdentity,
  type StoredMessage,
  TrustState,
  VaultRecord,
} from './records.ts'
import { grantRows } from './row-access.ts'
import type { ClientStore, MessageRange } from './store.ts'

/** After so long, what was made for a long list is stored. */
const STORED_AFTER_MS = 2000

/**
 * A store in an IndexedDB database, for browsers. A write resolves once it is on the disk (`durability:
 * 'strict'`). Writes that arrive while a transaction is open share it. A database of an older version is
 * upgraded on opening, all at once.
 *
 * When the disk is full, a browser may remove a site's data, and the identity with it: call
 * `navigator.storage.persist()`. The store itself does not encrypt; see the option `secrets` of the client.
 * Two stores with the same name share their data: each sees the writes of the other.
 */
export class IndexedDbStore implements ClientStore {
  readonly #database: IDBDatabase
  readonly #queue: WorkQueue
  /** Runs while made summaries wait to be stored. */
  #summaries: ReturnType<typeof setTimeout> | undefined

  private constructor(database: IDBDatabase) {
    this.#database = database
    this.#queue = new WorkQueue(database, writeChanges)
    grantRows(this, this.#queue)
    grantSlots(this, { file: database.name })
    database.onversionchange = (event) =>
      this.#giveUp(
        event.newVersion === null
          ? 'the store was deleted, by another tab of this site'
          : 'another tab of this site has a newer version of the app: reload this one',
      )
    database.onclose = () => this.#giveUp('the browser has closed the store, or the user has removed it')
  }

  /**
   * Opens the store of this name, and creates it if it does not exist. Names belong to the origin: other
   * sites cannot open it.
   * @throws ClientError `STORE_FAILED` if it cannot be opened or a newer program has written it,
   *   `STORE_LOCKED` if it must be upgraded and a tab with the older program does not close it.
   */
  static async open(name = 'sotto'): Promise<IndexedDbStore> {
    try {
      return new IndexedDbStore(await openDatabase(name))
    } catch (error) {
      throw storeFailure(error)
    }
  }

  async write(changes: readonly StoreChange[]): Promise<void> {
    // Copies, so that later changes to the caller's objects are not written.
    return this.#queue.change(structuredClone(changes))
  }

  getVault(): Promise<VaultRecord | undefined> {
    return this.#find(VaultRecord, (tx) => tx.objectStore('vault').get('vault'))
  }

  getIdentity(): Promise<StoredIdentity | undefined> {
    return this.#find(StoredIdentity, (tx) => tx.objectStore('values').get('identity'))
  }

  listSessions(): Promise<readonly SessionRecord[]> {
    return this.#list(SessionRecord, (tx) => tx.objectStore('sessions').getAll())
  }

  async getTrust(conversationId: string): Promise<TrustState> {
    const trust = await this.#find(TrustState, (tx) => tx.objectStore('trust').get(conversationId))
    return trust ?? { status: 'unverified' }
  }

  async listFriends(): Promise<readonly FriendProfile[]> {
    const friends = v.array(FriendProfile)
    return (await this.#find(friends, (tx) => tx.objectStore('values').get('friends'))) ?? []
  }

  async listMessages(conversationId: string, range: MessageRange = {}): Promise<readonly StoredMessage[]> {
    const { afterSeq = 0, beforeSeq = WITHOUT_SEQ, limit = Number.POSITIVE_INFINITY, take } = range
    const rows = await this.#queue.read(async (tx) => {
      const index = messageIndex(tx, 'order')
      const found: unknown[] = []
      const unsent = async (): Promise<unknown[]> =>
        range.beforeSeq === undefined ? done(index.getAll(startingWith(conversationId, WITHOUT_SEQ))) : []
      // [conversation, seq, []] sorts after all messages with that seq.
      const lower = [conversationId, afterSeq, []] as const
      const upper = [conversationId, beforeSeq] as const
      if (indexedDB.cmp(lower, upper) < 0) {
        const bounds = IDBKeyRange.bound(lower, upper)
        if (limit === Number.POSITIVE_INFINITY) found.push(...(await done(index.getAll(bounds))))
        else if (take === 'earliest') {
          // One more, which says whether the part reaches the end.
          found.push(...(await done(index.getAll(bounds, limit + 1))))
          if (found.length > limit) {
            const next = found.pop()
            const seq = limit > 0 ? messageOf(found.at(-1)).seq : undefined
            if (seq === undefined || messageOf(next).seq !== seq) return found
            const after = [conversationId, seq, []]
            found.splice(0, limit, ...(await done(index.getAll(IDBKeyRange.bound(lower, after)))))
            if ((await done(index.count(IDBKeyRange.bound(after, upper)))) > 0) return found
          }
        } else if (limit > 0)
          return (await Promise.all([latestRows(index, lower, upper, limit), unsent()])).flat()
      }
      return [...found, ...(await unsent())]
    })
    return rows.map(messageOf)
  }

  findMessage(conversationId: string, isMe: boolean, id: string): Promise<StoredMessage | undefined> {
    return this.#findMessage((tx) => messageIndex(tx, 'name').get(messageName(conversationId, isMe, id)))
  }

  findMessageBySeq(conversationId: string, seq: number): Promise<StoredMessage | undefined> {
    return this.#findMessage((tx) => messageIndex(tx, 'seq').get([conversationId, seq]))
  }

  async hasNonce(conversationId: string, nonce: string): Promise<boolean> {
    return this.#queue.read(
      async (tx) => (await done(messageIndex(tx, 'nonce').getKey([conversationId, nonce]))) !== undefined,
    )
  }

  latestPeerSeq(conversationId: string): Promise<number> {
    return this.#queue.read(async (tx) => {
      const range = startingWith(conversationId)
      const last = await done(messageIndex(tx, 'peer').openKeyCursor(range, 'prev'))
      return last ? seqOf(last.key) : 0
    })
  }

  async listSummaries(conversationIds: readonly ConversationId[]): Promise<readonly ConversationSummary[]> {
    const { found, missing } = await this.#queue.read((tx) => readSummaries(tx, conversationIds))
    if (missing.length > 0)
      // Nobody waits for it. If it fails, every later write fails, and its caller gets the error. It comes
      // later, because Chromium takes seconds to open a store in which a page left such a write unfinished.
      this.#summaries ??= setTimeout(() => {
        this.#summaries = undefined
        this.#queue.write((tx) => writeSummaries(tx, missing)).catch(() => {})
      }, STORED_AFTER_MS)
    return found.map((value) => checked(ConversationSummary, value))
  }

  async listOwnMessages(
    conversationId: string,
    upToSeq: number,
    statuses: readonly MessageStatus[],
  ): Promise<readonly StoredMessage[]> {
    const rows = await this.#queue.read(async (tx) => {
      const found: unknown[] = []
      for (const status of statuses) {
        const range = IDBKeyRange.bound([conversationId, status], [conversationId, status, upToSeq])
        found.push(...(await done(messageIndex(tx, 'own').getAll(range))))
      }
      return found
    })
    return rows.map(messageOf).sort((a, b) => (a.seq ?? 0) - (b.seq ?? 0))
  }

  listOutbox(): Promise<readonly OutboxIntent[]> {
    return this.#list(OutboxIntent, (tx) => tx.objectStore('outbox').getAll())
  }

  listRetractIntents(): Promise<readonly RetractIntent[]> {
    return this.#list(RetractIntent, (tx) => tx.objectStore('retract_intents').getAll())
  }

  async listOfflineMessages(conversationId?: string): Promise<readonly OfflineMessage[]> {
    const range = conversationId === undefined ? undefined : startingWith(conversationId)
    const messages = await this.#list(OfflineMessage, (tx) => tx.objectStore('offline').getAll(range))
    return messages.toSorted((a, b) => a.seq - b.seq)
  }

  findOfflineMessage(conversationId: string, seq: number): Promise<OfflineMessage | undefined> {
    return this.#find(OfflineMessage, (tx) => tx.objectStore('offline').get([conversationId, seq]))
  }

  countOfflineMessages(): Promise<number> {
    return this.#queue.read((tx) => done(tx.objectStore('offline').count()))
  }

  listReadMarks(): Promise<readonly ReadMark[]> {
    return this.#list(ReadMark, (tx) => tx.objectStore('read_marks').getAll())
  }

  listSettings(): Promise<readonly ConversationSettings[]> {
    return this.#list(ConversationSettings, (tx) => tx.objectStore('settings').getAll())
  }

  listAppData(): Promise<readonly AppRecord[]> {
    return this.#list(AppRecord, (tx) => tx.objectStore('app_data').getAll())
  }

  findSecret(name: string): Promise<string | undefined> {
    return this.#find(v.string(), (tx) => tx.objectStore('secrets').get(name))
  }

  async listCalls(): Promise<readonly CallRecord[]> {
    const calls = await this.#list(CallRecord, (tx) => tx.objectStore('calls').getAll())
    return calls.sort(latestFirst)
  }

  async close(): Promise<void> {
    clearTimeout(this.#summaries)
    await this.#queue.end(new ClientError('CLOSED', 'the store is closed'))
    this.#database.close()
  }

  async abandon(): Promise<void> {
    this.#queue.abandon(new ClientError('CLOSED', 'the store was abandoned'))
    await this.close()
  }

  // The tab that deletes or upgrades the database waits until it is closed. It closes once the running work
  // has ended.
  #giveUp(reason: string): void {
    this.#queue.abandon(new ClientError('STORE_FAILED', reason))
    this.#database.close()
  }

  async #find<const S extends v.GenericSchema>(
    schema: S,
    ask: (transaction: IDBTransaction) => IDBRequest<unknown>,
  ): Promise<v.InferOutput<S> | undefined> {
    const found = await this.#queue.read((tx) => done(ask(tx)))
    return found === undefined ? undefined : checked(schema, found)
  }

  async #list<const S extends v.GenericSchema>(
    schema: S,
    ask: (transaction: IDBTransaction) => IDBRequest<unknown[]>,
  ): Promise<v.InferOutput<S>[]> {
    const found = await this.#queue.read((tx) => done(ask(tx)))
    return found.map((value) => checked(schema, value))
  }

  async #findMessage(
    ask: (transaction: IDBTransaction) => IDBRequest<unknown>,
  ): Promise<StoredMessage | undefined> {
    return (await this.#find(MessageRow, ask))?.message
  }
}

function messageIndex(transaction: IDBTransaction, name: string): IDBIndex {
  return transaction.objectStore('messages').index(name)
}

/**
 * The latest rows of a range of the index `order`: `limit`, and more if they would be only some of those with
 * the same `seq`. A cursor would wait for the database at each row, so this guesses the `seq` of the first.
 */
async function latestRows(
  index: IDBIndex,
  lower: readonly [string, number, readonly unknown[]],
  upper: readonly [string, number],
  limit: number,
): Promise<readonly unknown[]> {
  const [conversationId, afterSeq] = lower
  const last = await done(index.openKeyCursor(IDBKeyRange.bound(lower, upper), 'prev'))
  if (!last) return []
  const lastSeq = seqOf(last.key)
  for (let span = limit; ; span *= 4) {
    const from = Math.max(lastSeq - span, afterSeq)
    const rows: unknown[] = await done(index.getAll(IDBKeyRange.bound([conversationId, from, []], upper)))
    if (rows.length < limit && from > afterSeq) continue
    let start = Math.max(rows.length - limit, 0)
    while (start > 0 && messageOf(rows[start - 1]).seq === messageOf(rows[start]).seq) start -= 1
    return rows.slice(start)
  }
}

function messageOf(row: unknown): StoredMessage {
  return checked(MessageRow, row).message
}

function checked<const S extends v.GenericSchema>(schema: S, value: unknown): v.InferOutput<S> {
  try {
    return check(schema, value)
  } catch (error) {
    throw new ClientError('STORE_FAILED', 'the store holds an invalid record', { cause: error })
  }
}
