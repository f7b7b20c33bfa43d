// The table of search blocks in an IndexedDB database. A block has what is searched of 128 messages whose
// rows follow one another. A write to one of these rows deletes the block in the same transaction. What is
// missing is made before each search. Blocks that were read stay in memory.
import { check } from '@sotto/protocol'
import * as v from 'valibot'
import { done } from './indexeddb-request.ts'
import { BLOCK_ROWS, blockOf, deleteNamed, MessageRow, messageName } from './indexeddb-writes.ts'
import { StoredMessage } from './records.ts'
import { type RowAccess, rowsOf } from './row-access.ts'
import type { ClientStore } from './store.ts'

/** The maximum of blocks that are made, or read, in one transaction, during which other work waits. */
const MADE_AT_ONCE = 16
const READ_AT_ONCE = 64

const { conversationId, id } = StoredMessage.entries
/** The schema of {@link MessagePlace}. */
export const MessagePlace = v.object({ time: v.number(), conversationId, isMe: v.boolean(), id })
/** The place of a message among all messages, by time. */
export type MessagePlace = Readonly<v.InferOutput<typeof MessagePlace>>

/** Sorts places by time, the latest first. Messages of the same time have an order as well. */
export function latestPlaceFirst(a: MessagePlace, b: MessagePlace): number {
  if (a.time !== b.time) return b.time - a.time
  if (a.conversationId !== b.conversationId) return a.conversationId < b.conversationId ? 1 : -1
  if (a.isMe !== b.isMe) return a.isMe ? 1 : -1
  return a.id === b.id ? 0 : a.id < b.id ? 1 : -1
}

/** What is searched of some messages. */
export interface MessageBlock<P extends MessagePlace = MessagePlace> {
  /** A line for each message, each ended by `\n`. */
  readonly lines: string
  /** The messages of the lines. */
  readonly places: readonly P[]
  /** The first and the last time among them. */
  readonly earliest: number
  readonly latest: number
}

/** How a message becomes a line. */
export interface LineFormat {
  /** Changes whenever `lineOf` does; all blocks are then made again. */
  readonly version: number
  /** What is searched of a message, without `\n`. Empty if nothing is. */
  lineOf(message: StoredMessage): string
}

/** Makes a block of lines and their messages. */
export function blockOfLines<P extends MessagePlace>(lines: string, places: readonly P[]): MessageBlock<P> {
  let [earliest, latest] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const { time } of places) {
    earliest = Math.min(earliest, time)
    latest = Math.max(latest, time)
  }
  return { lines, places, earliest, latest }
}

/** A row of the table. The database gives each a number that no other block ever had. */
const BlockRow = v.object({
  version: v.number(),
  /** Says which rows of messages it is for: see `blockOf`. */
  name: v.number(),
  /** The last row of messages that was there when it was made. */
  upToRow: v.number(),
  lines: v.string(),
  places: v.array(MessagePlace),
})
type BlockRow = v.InferOutput<typeof BlockRow>

interface StoredBlock extends MessageBlock, Pick<BlockRow, 'name' | 'upToRow'> {}

/** The difference between the table and the messages. */
interface Survey {
  /** Keys of blocks that are not in memory, in order. */
  readonly unread: readonly IDBValidKey[]
  /** Blocks to make. */
  readonly missing: readonly Pick<BlockRow, 'name' | 'upToRow'>[]
}

const opened = new WeakMap<RowAccess, MessageBlocks>()

/** The search blocks of one store. */
export class MessageBlocks {
  readonly #rows: RowAccess
  readonly #format: LineFormat
  /** The blocks that were read, by key; undefined if a block cannot be read, or has another version. */
  readonly #read = new Map<IDBValidKey, StoredBlock | undefined>()
  /** Each conversation's id once, of which every place read from the database has a copy. */
  readonly #conversationIds = new Map<string, MessagePlace['conversationId']>()

  private constructor(rows: RowAccess, format: LineFormat) {
    this.#rows = rows
    this.#format = format
  }

  /** The blocks of a store, the same object for each call; undefined if it keeps its messages in memory. */
  static of(store: ClientStore, format: LineFormat): MessageBlocks | undefined {
    const rows = rowsOf(store)
    if (!rows) return undefined
    const blocks = opened.get(rows) ?? new MessageBlocks(rows, format)
    opened.set(rows, blocks)
    return blocks
  }

  /** Makes the blocks that are missing and reads all, with other work of the store in between. */
  async catchUp(): Promise<void> {
    for (;;) {
      const { unread, missing } = await this.#rows.read((transaction) => this.#readSome(transaction))
      if (unread.length > 0) continue
      if (missing.length === 0) return
      try {
        await this.#rows.write((transaction) => this.#makeSome(transaction))
      } catch (error) {
        // What was read in a transaction that failed was never stored.
        this.#read.clear()
        throw error
      }
    }
  }

  /** Drops from memory what was deleted from the table. */
  async forget(): Promise<void> {
    await this.#rows.read((transaction) => this.#survey(transaction))
  }

  /** The messages at the places that are chosen from all blocks. Catches up before. */
  async find(
    choose: (blocks: readonly MessageBlock[]) => readonly MessagePlace[],
  ): Promise<readonly StoredMessage[]> {
    for (;;) {
      const found = await this.#rows.read(async (transaction) => {
        // Nothing is written during this transaction.
        const { unread, missing } = await this.#survey(transaction)
        if (unread.length > 0 || missing.length > 0) return undefined
        const places = choose([...this.#read.values()].filter((block) => block !== undefined))
        const names = table(transaction, 'messages').index('name')
        const rows = await Promise.all(places.map((place) => done<unknown>(names.get(nameOf(place)))))
        return rows.map((row) => check(MessageRow, row).message)
      })
      if (found) return found
      await this.catchUp()
    }
  }

  async #survey(transaction: IDBTransaction): Promise<Survey> {
    const messages = table(transaction, 'messages')
    const [keys, [first], end] = await Promise.all([
      done(table(transaction, 'search_blocks').getAllKeys()),
      done(messages.getAllKeys(null, 1)),
      done(messages.openKeyCursor(null, 'prev')),
    ])
    const stored = new Set(keys)
    for (const key of this.#read.keys()) if (!stored.has(key)) this.#read.delete(key)
    const made = new Map<number, number>()
    for (const block of this.#read.values()) if (block) made.set(block.name, block.upToRow)
    const missing: Survey['missing'][number][] = []
    if (first !== undefined && end) {
      for (let name = blockOf(first); name <= blockOf(end.key); name += 1) {
        const upToRow = Math.min(Number(end.key), (name + 1) * BLOCK_ROWS - 1)
        if (made.get(name) !== upToRow) missing.push({ name, upToRow })
      }
    }
    return { unread: keys.filter((key) => !this.#read.has(key)), missing }
  }

  /** Reads some blocks. Returns what was left to do before. */
  async #readSome(transaction: IDBTransaction): Promise<Survey> {
    const survey = await this.#survey(transaction)
    const unread = survey.unread.slice(0, READ_AT_ONCE)
    if (unread.length === 0) return survey
    const range = IDBKeyRange.bound(unread[0], unread.at(-1))
    const blocks = table(transaction, 'search_blocks')
    const [keys, rows] = await Promise.all([
      done(blocks.getAllKeys(range)),
      done<unknown[]>(blocks.getAll(range)),
    ])
    for (const [at, key] of keys.entries()) this.#read.set(key, this.#blockOf(rows[at]))
    return survey
  }

  /** The block in a row; undefined if it must be made again. */
  #blockOf(row: unknown): StoredBlock | undefined {
    const read = v.safeParse(BlockRow, row)
    if (!read.success || read.output.version !== this.#format.version) return undefined
    const { name, upToRow, lines, places } = read.output
    const known = places.map((place) => ({ ...place, conversationId: this.#once(place.conversationId) }))
    return { name, upToRow, ...blockOfLines(lines, known) }
  }

  #once(conversationId: MessagePlace['conversationId']): MessagePlace['conversationId'] {
    const known = this.#conversationIds.get(conversationId)
    if (known !== undefined) return known
    this.#conversationIds.set(conversationId, conversationId)
    return conversationId
  }

  /** Makes some blocks, and deletes those that cannot be read. */
  async #makeSome(transaction: IDBTransaction): Promise<void> {
    const { missing } = await this.#survey(transaction)
    const blocks = table(transaction, 'search_blocks')
    for (const [key, block] of this.#read) if (!block) await done(blocks.delete(key))
    let added: Promise<unknown> | undefined
    for (const { name, upToRow } of missing.slice(0, MADE_AT_ONCE)) {
      const range = IDBKeyRange.bound(name * BLOCK_ROWS, upToRow)
      // One way to the database and back for a block, not three.
      const [rows] = await Promise.all([
        done<unknown[]>(table(transaction, 'messages').getAll(range)),
        deleteNamed(blocks, name),
        added,
      ])
      const row: BlockRow = { version: this.#format.version, name, upToRow, ...this.#linesOf(rows) }
      added = done(blocks.add(row))
    }
    await added
  }

  #linesOf(rows: readonly unknown[]): Pick<BlockRow, 'lines' | 'places'> {
    const lines: string[] = []
    const places: MessagePlace[] = []
    for (const row of rows) {
      const read = v.safeParse(MessageRow, row)
      // Nobody can read an invalid record. It must not end all writing of the store.
      const line = read.success ? this.#format.lineOf(read.output.message) : ''
      if (!read.success || line === '') continue
      const { time, conversationId, isMe, id } = read.output.message
      lines.push(`${line}\n`)
      places.push({ time, conversationId, isMe, id })
    }
    return { lines: lines.join(''), places }
  }
}

function table(transaction: IDBTransaction, name: 'messages' | 'search_blocks'): IDBObjectStore {
  return transaction.objectStore(name)
}

function nameOf({ conversationId, isMe, id }: MessagePlace): string[] {
  return messageName(conversationId, isMe, id)
}
