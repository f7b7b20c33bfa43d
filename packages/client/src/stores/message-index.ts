// The index of messages in an IndexedDB database: a table with the words of each message, under the number of
// its row. A change of the row removes them in the same transaction. What was written since is indexed before
// each search.
import { check } from '@sotto/protocol'
import * as v from 'valibot'
import { done, startingWith, walkDown } from './indexeddb-request.ts'
import { MessageRow, messageName } from './indexeddb-writes.ts'
import type { StoredMessage } from './records.ts'
import { type RowAccess, rowsOf } from './row-access.ts'
import type { ClientStore } from './store.ts'

/** The maximum of messages that are indexed in one transaction, during which other work waits. */
const BATCH = 200
/** Words with at most this many messages are looked up. For others, the latest messages are read through. */
const FEW = 1000

/** What is indexed of a message. */
export interface WordList {
  /** Changes whenever `wordsOf` does; everything is then indexed again. */
  readonly version: number
  /** The words of a message, each once. */
  wordsOf(message: StoredMessage): readonly string[]
}

/** A word, or the beginning of one. */
export interface WordLookup {
  readonly word: string
  readonly isPrefix: boolean
}

/** The place of a message among all messages, by time. */
export type MessagePlace = Pick<StoredMessage, 'time' | 'conversationId' | 'isMe' | 'id'>

/** What to find. */
export interface MessageQuery {
  /** A message must have all of them. */
  readonly words: readonly WordLookup[]
  readonly conversationId?: string
  /** Only messages with an earlier place. */
  readonly before?: MessagePlace
  readonly limit: number
  /** Whether a message with these words is one that was asked for. */
  matches(message: StoredMessage): boolean
}

/** How far the messages have been indexed. */
const Progress = v.object({ version: v.number(), upToRow: v.number() })

/** Sorts places by time, the latest first. Messages of the same time have an order as well. */
export function latestPlaceFirst(a: MessagePlace, b: MessagePlace): number {
  if (a.time !== b.time) return b.time - a.time
  const [one, other] = [nameOf(a), nameOf(b)]
  const at = one.findIndex((part, index) => part !== other[index])
  return at === -1 ? 0 : (one[at] ?? '') < (other[at] ?? '') ? 1 : -1
}

/** The index of the messages of one store. */
export class MessageIndex {
  readonly #rows: RowAccess
  readonly #list: WordList

  private constructor(rows: RowAccess, list: WordList) {
    this.#rows = rows
    this.#list = list
  }

  /** The index of a store; undefined if the store keeps its messages in memory. */
  static of(store: ClientStore, list: WordList): MessageIndex | undefined {
    const rows = rowsOf(store)
    return rows && new MessageIndex(rows, list)
  }

  /** Indexes everything that is not indexed, with other work of the store in between. */
  async catchUp(): Promise<void> {
    let isComplete = false
    while (!isComplete) {
      await this.#rows.write(async (transaction) => {
        isComplete = await this.#indexBatch(transaction)
      })
    }
  }

  /** The messages that match, the latest first. Catches up before. */
  async find(query: MessageQuery): Promise<readonly StoredMessage[]> {
    for (;;) {
      const found = await this.#rows.read(async (transaction) => {
        // A message that was just written again has no words. Nothing is written during this transaction.
        const { rows } = await this.#notIndexed(transaction, 1)
        if (rows.length > 0) return undefined
        const keys = await this.#candidates(transaction, query)
        const messages = table(transaction, 'messages')
        return keys ? pick(messages, keys, query) : walk(messages, query)
      })
      if (found) return found
      await this.catchUp()
    }
  }

  /** Indexes some messages. Returns whether nothing is left. */
  async #indexBatch(transaction: IDBTransaction): Promise<boolean> {
    const { version, wordsOf } = this.#list
    const { rows, upToRow, isAll } = await this.#notIndexed(transaction, BATCH)
    const messages = table(transaction, 'messages')
    const values = await Promise.all(rows.map((row) => done<unknown>(messages.get(row))))
    const writes = values.map((value, at) => {
      const read = v.safeParse(MessageRow, value)
      // Nobody can read an invalid record. It must not end all writing of the store.
      const words = read.success ? wordsOf(read.output.message) : []
      return done(table(transaction, 'words').put({ words }, rows[at]))
    })
    await Promise.all(writes)
    if (upToRow !== undefined)
      await done(table(transaction, 'values').put({ version, upToRow }, 'messages indexed'))
    return isAll
  }

  /**
   * Rows that are not indexed. `upToRow` is the last of the new ones among them; `isAll` says whether these
   * are all.
   */
  async #notIndexed(
    transaction: IDBTransaction,
    limit: number,
  ): Promise<{ rows: IDBValidKey[]; upToRow: IDBValidKey | undefined; isAll: boolean }> {
    const progress = v.safeParse(Progress, await done(table(transaction, 'values').get('messages indexed')))
    const before = progress.success && progress.output.version === this.#list.version
    // New rows get higher numbers than all before them. Rows that were written again are marked.
    const range = IDBKeyRange.lowerBound(before ? progress.output.upToRow : 0, true)
    const [changed, added] = await Promise.all([
      done(table(transaction, 'words').index('unindexed').getAllKeys(null, limit)),
      done(table(transaction, 'messages').getAllKeys(range, limit)),
    ])
    return {
      rows: [...new Set([...changed, ...added])],
      upToRow: added.at(-1),
      isAll: changed.length < limit && added.length < limit,
    }
  }

  /** The rows that can match; undefined if they are so many that the latest messages are read instead. */
  async #candidates(
    transaction: IDBTransaction,
    { words, conversationId }: MessageQuery,
  ): Promise<ReadonlySet<IDBValidKey> | undefined> {
    const lists = words.map(({ word, isPrefix }) => ({
      index: table(transaction, 'words').index('words'),
      // No word has U+FFFF, which no character has.
      range: isPrefix ? IDBKeyRange.bound(word, `${word}\uffff`) : IDBKeyRange.only(word),
    }))
    if (conversationId !== undefined)
      lists.push({
        index: table(transaction, 'messages').index('order'),
        range: startingWith(conversationId),
      })
    const read = (limit?: number) =>
      Promise.all(lists.map(({ index, range }) => done(index.getAllKeys(range, limit))))
    const complete = (await read(FEW + 1)).filter(({ length }) => length <= FEW)
    if (complete.length > 0) return inAll(complete)
    if (lists.length === 1) return undefined
    const all = inAll(await read())
    return all.size > FEW ? undefined : all
  }
}

function table(transaction: IDBTransaction, name: 'messages' | 'words' | 'values'): IDBObjectStore {
  return transaction.objectStore(name)
}

function inAll(lists: readonly (readonly IDBValidKey[])[]): ReadonlySet<IDBValidKey> {
  const [shortest = [], ...others] = lists.toSorted((a, b) => a.length - b.length)
  const sets = others.map((list) => new Set(list))
  return new Set(shortest.filter((key) => sets.every((set) => set.has(key))))
}

/** Reads the candidates and returns the latest that match. */
async function pick(
  messages: IDBObjectStore,
  keys: ReadonlySet<IDBValidKey>,
  query: MessageQuery,
): Promise<readonly StoredMessage[]> {
  const rows = await Promise.all([...keys].map((key) => done<unknown>(messages.get(key))))
  return rows
    .map((row) => check(MessageRow, row).message)
    .filter((message) => isFound(message, query))
    .sort(latestPlaceFirst)
    .slice(0, query.limit)
}

/** Reads all messages, the latest first, until enough match. */
async function walk(messages: IDBObjectStore, query: MessageQuery): Promise<readonly StoredMessage[]> {
  const found: StoredMessage[] = []
  const range = query.before ? IDBKeyRange.upperBound(placeKey(query.before), true) : null
  await walkDown(messages.index('place'), range, (row) => {
    const { message } = check(MessageRow, row)
    if (isFound(message, query)) found.push(message)
    return found.length < query.limit
  })
  return found
}

function isFound(message: StoredMessage, { conversationId, before, matches }: MessageQuery): boolean {
  return (
    (conversationId === undefined || message.conversationId === conversationId) &&
    (before === undefined || latestPlaceFirst(before, message) < 0) &&
    matches(message)
  )
}

/** The key of a message in the index `place`. */
function placeKey(place: MessagePlace): IDBValidKey {
  return [place.time, nameOf(place)]
}

function nameOf({ conversationId, isMe, id }: MessagePlace): string[] {
  return messageName(conversationId, isMe, id)
}
