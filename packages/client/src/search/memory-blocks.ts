// The blocks of a store that keeps its messages in memory. A message that changes is another object, so a
// block is valid as long as its messages are the objects that the store has.
import {
  blockOfLines,
  type ClientStore,
  type LineFormat,
  type MessageBlock,
  type StoredMessage,
} from '../stores/stores.ts'

/** The maximum of messages in a block. */
const MESSAGES = 128

type Block = MessageBlock<StoredMessage>

const opened = new WeakMap<object, MemoryBlocks>()

/** The blocks of one store, by conversation. */
export class MemoryBlocks {
  readonly #store: Pick<ClientStore, 'listMessages'>
  readonly #format: LineFormat
  readonly #blocks = new Map<string, readonly Block[]>()

  private constructor(store: Pick<ClientStore, 'listMessages'>, format: LineFormat) {
    this.#store = store
    this.#format = format
  }

  /** The blocks of a store, the same object for each call. */
  static of(store: Pick<ClientStore, 'listMessages'>, format: LineFormat): MemoryBlocks {
    const blocks = opened.get(store) ?? new MemoryBlocks(store, format)
    opened.set(store, blocks)
    return blocks
  }

  /** The blocks of conversations as they are now. */
  async list(conversationIds: readonly string[]): Promise<readonly Block[]> {
    const lists = await Promise.all(conversationIds.map((id) => this.#store.listMessages(id)))
    return conversationIds.flatMap((id, at) => this.#refresh(id, lists[at] ?? [], this.#make))
  }

  /** Drops the blocks whose messages have changed. */
  async forget(): Promise<void> {
    for (const id of [...this.#blocks.keys()]) {
      const messages = await this.#store.listMessages(id)
      const kept = this.#refresh(id, messages, () => undefined)
      if (kept.length === 0) this.#blocks.delete(id)
    }
  }

  /** Replaces the blocks whose messages have changed. */
  #refresh(
    conversationId: string,
    messages: readonly StoredMessage[],
    make: (messages: readonly StoredMessage[]) => Block | undefined,
  ): readonly Block[] {
    const before = this.#blocks.get(conversationId) ?? []
    const known = new Map(before.map((block) => [block.places[0], block]))
    // A block ends where one begins that was there before, which then stays as it is.
    const isEnd = (at: number): boolean => at >= messages.length || known.has(messages[at])
    const blocks: Block[] = []
    for (let start = 0; start < messages.length; ) {
      const from = start
      const block = known.get(messages[from])
      let end = from + (block?.places.length ?? 0)
      const isSame =
        block?.places.every((place, at) => place === messages[from + at]) &&
        (block.places.length === MESSAGES || isEnd(end))
      if (!isSame) for (end = from + 1; end < from + MESSAGES && !isEnd(end); ) end += 1
      const made = isSame ? block : make(messages.slice(from, end))
      if (made) blocks.push(made)
      start = end
    }
    this.#blocks.set(conversationId, blocks)
    return blocks
  }

  readonly #make = (messages: readonly StoredMessage[]): Block =>
    blockOfLines(messages.map((message) => `${this.#format.lineOf(message)}\n`).join(''), messages)
}
