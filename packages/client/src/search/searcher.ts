// Searches the messages of one device, next to its store.
import type { Device } from '../device.ts'
import type { SearchOptions, SearchPage } from './search-page.ts'
import { StoreSearch } from './store-search.ts'

/** The part of `Search` that runs next to the store. */
export class Searcher {
  readonly #device: Device
  readonly #search: StoreSearch

  constructor(device: Device) {
    this.#device = device
    this.#search = new StoreSearch(device.platform.store)
    device.emitter.on('synced', () => this.#catchUp())
    // Deleted texts do not stay in memory until the next search.
    device.emitter.on('changes', (changes) => {
      if (changes.some(({ kind }) => kind === 'messages' || kind === 'everything')) this.#forget()
    })
    this.#catchUp()
  }

  /** See `Search.find`. */
  find(typed: string, { contact, ...options }: SearchOptions): Promise<SearchPage> {
    const { sessions } = this.#device.needEngine()
    const ofContact = contact === undefined ? {} : { conversationId: sessions.get(contact).conversationId }
    const all = sessions.list().map(({ conversationId }) => conversationId)
    return this.#search.find(typed, { ...options, ...ofContact }, all)
  }

  /** See `Search.ready`. */
  ready(): Promise<void> {
    this.#device.needEngine()
    return this.#search.catchUp()
  }

  /** Makes blocks before the user searches. A search does the same, and gets the error if it fails. */
  #catchUp(): void {
    this.#search.catchUp().catch(() => {})
  }

  /** Drops what has changed from memory. A search does the same, and gets the error if it fails. */
  #forget(): void {
    this.#search.forget().catch(() => {})
  }
}
