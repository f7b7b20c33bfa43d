// Searches the messages of a store: through the index of a store that has one, or else through all messages.
import {
  type ClientStore,
  latestPlaceFirst,
  MessageIndex,
  type MessageQuery,
  type StoredMessage,
} from '../stores/stores.ts'
import { isIn, lookupsOf, rangesIn, readQuery } from './query.ts'
import type { SearchOptions, SearchPage } from './search-page.ts'
import { WORDS_VERSION, wordsOf } from './words.ts'

const DEFAULT_LIMIT = 20

/** Options of one search. `contact` is already a conversation. */
export interface StoreSearchOptions extends Omit<SearchOptions, 'contact'> {
  readonly conversationId?: string
}

/**
 * What is searched of a message: its text or, of media, the caption or the file's name. The name of a file
 * that is being retracted is stored until the relay has acknowledged that, and is not found any more.
 */
function searchedText({ msgType, text, caption, retracted, removed }: StoredMessage): string {
  if (msgType === 'undecryptable' || retracted || removed) return ''
  return (msgType === undefined || msgType === 'text' ? text : caption) ?? ''
}

/** A search of one store. */
export class StoreSearch {
  readonly #store: Pick<ClientStore, 'listMessages'>
  readonly #index: MessageIndex | undefined
  /** The words of messages in memory. A message that changes is another object, and has other words. */
  readonly #lines = new WeakMap<StoredMessage, string>()

  constructor(store: ClientStore) {
    this.#store = store
    this.#index = MessageIndex.of(store, {
      version: WORDS_VERSION,
      wordsOf: (message) => [...wordsOf(searchedText(message)).entries],
    })
  }

  /** See `Search.ready`. */
  async catchUp(): Promise<void> {
    await this.#index?.catchUp()
  }

  /** See `Search.find`. `conversationIds` are all conversations; without an index, each is read. */
  async find(
    typed: string,
    options: StoreSearchOptions,
    conversationIds: readonly string[],
  ): Promise<SearchPage> {
    const { conversationId, before, limit = DEFAULT_LIMIT } = options
    const query = readQuery(typed)
    if (query.terms.length === 0 || limit < 1) return { results: [] }
    const asked: MessageQuery = {
      words: lookupsOf(query),
      ...(conversationId === undefined ? {} : { conversationId }),
      ...(before === undefined ? {} : { before }),
      // One more, which says whether there is a next page.
      limit: limit + 1,
      matches: (message) => isIn(query, this.#lineOf(message)),
    }
    const found = await (this.#index?.find(asked) ??
      this.#scan(asked, conversationId === undefined ? conversationIds : [conversationId]))
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

  /** Reads every message, and keeps as many found ones as are asked for. */
  async #scan(
    { before, limit, matches }: MessageQuery,
    conversationIds: readonly string[],
  ): Promise<readonly StoredMessage[]> {
    const lists = await Promise.all(conversationIds.map((id) => this.#store.listMessages(id)))
    const found: StoredMessage[] = []
    // From the end: once enough are found, earlier messages need not be looked at.
    for (const message of lists.flat().reverse()) {
      const last = found[limit - 1]
      if (last && latestPlaceFirst(last, message) < 0) continue
      if (before && latestPlaceFirst(before, message) >= 0) continue
      if (!matches(message)) continue
      found.splice(found.findLastIndex((each) => latestPlaceFirst(each, message) < 0) + 1, 0, message)
      if (found.length > limit) found.pop()
    }
    return found
  }

  #lineOf(message: StoredMessage): string {
    const known = this.#lines.get(message)
    if (known !== undefined) return known
    const { line } = wordsOf(searchedText(message))
    this.#lines.set(message, line)
    return line
  }
}
