// Searches the messages of a store: through blocks in its database, or through blocks made of its memory.
import { type ClientStore, type LineFormat, MessageBlocks, type StoredMessage } from '../stores/stores.ts'
import { MemoryBlocks } from './memory-blocks.ts'
import { needlesOf, rangesIn, readQuery } from './query.ts'
import { type BlockQuery, findInBlocks } from './scan.ts'
import type { SearchOptions, SearchPage } from './search-page.ts'
import { LINE_VERSION, lineOf } from './words.ts'

const DEFAULT_LIMIT = 20

/** Options of one search. `contact` is already a conversation. */
export interface StoreSearchOptions extends Omit<SearchOptions, 'contact'> {
  readonly conversationId?: string
}

/**
 * What is searched of a message: its text or, of media, their words and the file's name. Those of a file
 * that is being retracted is stored until the relay has acknowledged that, and is not found any more.
 */
function searchedText({ msgType, text, words, caption, retracted, removed }: StoredMessage): string {
  if (msgType === 'undecryptable' || retracted || removed) return ''
  if (msgType === undefined || msgType === 'text') return text
  return [words, caption].filter(Boolean).join('\n')
}

const format: LineFormat = { version: LINE_VERSION, lineOf: (message) => lineOf(searchedText(message)) }

/** A search of one store. All searches of a store share its blocks. */
export class StoreSearch {
  readonly #stored: MessageBlocks | undefined
  readonly #inMemory: MemoryBlocks

  constructor(store: ClientStore) {
    this.#stored = MessageBlocks.of(store, format)
    this.#inMemory = MemoryBlocks.of(store, format)
  }

  /** See `Search.ready`. */
  async catchUp(): Promise<void> {
    await this.#stored?.catchUp()
  }

  /** Drops from memory what was searched of messages that have changed or are gone. */
  forget(): Promise<void> {
    return (this.#stored ?? this.#inMemory).forget()
  }

  /** See `Search.find`. `conversationIds` are all conversations. */
  async find(
    typed: string,
    options: StoreSearchOptions,
    conversationIds: readonly string[],
  ): Promise<SearchPage> {
    const { conversationId, before, limit = DEFAULT_LIMIT } = options
    const query = readQuery(typed)
    if (query.terms.length === 0 || limit < 1) return { results: [] }
    const asked: BlockQuery = {
      needles: needlesOf(query),
      ...(conversationId === undefined ? {} : { conversationId }),
      ...(before === undefined ? {} : { before }),
      // One more, which says whether there is a next page.
      limit: Math.floor(limit) + 1,
    }
    const found = await (this.#stored?.find((blocks) => findInBlocks(blocks, asked)) ??
      this.#findInMemory(asked, conversationIds))
    const page = found.slice(0, limit)
    const last = page.at(-1)
    return {
      results: page.map((message) => {
        const text = searchedText(message)
        return { message, text, ranges: rangesIn(query, text) }
      }),
      ...(last && found.length > limit
        ? { next: { time: last.time, conversationId: last.conversationId, isMe: last.isMe, id: last.id } }
        : {}),
    }
  }

  async #findInMemory(query: BlockQuery, conversationIds: readonly string[]) {
    const { conversationId } = query
    const ids = conversationId === undefined ? conversationIds : [conversationId]
    return findInBlocks(await this.#inMemory.list(ids), query)
  }
}
