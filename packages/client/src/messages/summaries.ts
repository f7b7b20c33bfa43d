// What a list of conversations shows that has to be read from the store. It is kept until a write changes it,
// because the whole list is described again whenever one conversation has changed.
import type { ConversationId } from '@sotto/protocol'
import {
  type ClientStore,
  type ConversationSummary,
  conversationOf,
  type StoreChange,
} from '../stores/stores.ts'

/** The summaries of all conversations that were described. */
export class Summaries {
  readonly #store: Pick<ClientStore, 'listSummaries'>
  readonly #summaries = new Map<string, Promise<ConversationSummary | undefined>>()

  constructor(store: Pick<ClientStore, 'listSummaries'>) {
    this.#store = store
  }

  /** The summaries of these conversations, in their order. Those that are not known are read together. */
  of(conversationIds: readonly ConversationId[]): Promise<readonly (ConversationSummary | undefined)[]> {
    const missing = conversationIds.filter((id) => !this.#summaries.has(id))
    let read: Promise<readonly ConversationSummary[]> | undefined
    for (const [at, id] of missing.entries()) {
      read ??= this.#store.listSummaries(missing)
      const summary = read.then((list) => list[at])
      this.#summaries.set(id, summary)
      // The callers get the error. The next caller reads again.
      summary.catch(() => this.#summaries.delete(id))
    }
    return Promise.all(conversationIds.map((id) => this.#summaries.get(id)))
  }

  /** Call it before a change is written. A summary that is read after that has the change. */
  forget(change: StoreChange): void {
    this.#summaries.delete(conversationOf(change) ?? '')
  }
}
