// Search in the messages on this device.
import * as v from 'valibot'
import { type AnyClient, hostPart } from '../module-access.ts'
import { type HostedPart, ModulePart } from '../module-part.ts'
import { tabMethod } from '../tab-method.ts'
import { Options, Page, type SearchOptions, type SearchPage } from './search-page.ts'
import { Searcher } from './searcher.ts'

export type { SearchOptions, SearchPage, SearchPlace, SearchResult, TextRange } from './search-page.ts'

const find = tabMethod(
  'search.find',
  { takes: v.tuple([v.string(), Options]), answers: Page },
  (searcher: Searcher, text, options) => searcher.find(text, options),
)
const ready = tabMethod('search.ready', { takes: v.tuple([]), answers: v.void() }, (searcher: Searcher) =>
  searcher.ready(),
)
const part = new ModulePart({
  methods: [find, ready],
  open: (device) => new Searcher(device),
})

/**
 * Searches the messages on this device, through a client: `const search = new Search(client)`. It finds the
 * text of messages, words beside images and files, and file names, in any script. Case and diacritics make
 * no difference. Of a message, the first 1,000 different words are searched.
 *
 * What is searched lies in memory: about 200 bytes for a message of 40 characters. An `IndexedDbStore` also
 * keeps it in a table, which this module fills: from when it is made, and before each search, it adds what
 * was written since, also by programs without it. Deleting or retracting a message removes its words in the
 * same transaction. The table is protected as the messages are, which are not sealed.
 */
export class Search {
  readonly #part: HostedPart<Searcher>

  constructor(client: AnyClient) {
    this.#part = hostPart(client, part)
  }

  /**
   * Finds the messages that have every word of `text`, the latest first. The last word may be the beginning
   * of a longer one, as long as no other character follows it. In scripts without spaces, such as Chinese or
   * Thai, any part of a text is found. The words may come in any order.
   * @throws ClientError `NO_IDENTITY`, `LOCKED`, `CLOSED`, `UNKNOWN_CONTACT`, `STORE_FAILED`.
   */
  find(text: string, options: SearchOptions = {}): Promise<SearchPage> {
    return this.#part.call(find, [text, options])
  }

  /**
   * Resolves once everything in an `IndexedDbStore` can be searched. `find` waits for that, too. The first
   * time it takes some seconds for 100,000 messages; the store does other work in between. Other stores hold
   * their messages in memory: the first search after a start prepares them.
   * @throws ClientError `NO_IDENTITY`, `LOCKED`, `CLOSED`, `STORE_FAILED`.
   */
  ready(): Promise<void> {
    return this.#part.call(ready, [])
  }
}
