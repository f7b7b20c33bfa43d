// The part of a conversation that is read: a window of consecutive messages, which moves with what is seen.
// It is small whatever the length of the conversation, and read again after each change.
import { batch, type ReadonlySignal, signal } from '@preact/signals'
import type { StoredMessage } from '@sotto/client'
import { type FollowedClient, follow, messages } from '@sotto/client/signals'

/** The first page fills more than a screen; while scrolling, so many are before and after the middle. */
const FIRST_PAGE = 60
const HALF_WINDOW = 100

/** What is read: the end of the conversation, or the surroundings of a message. */
type Part = { readonly limit: number } | { readonly aroundSeq: number; readonly limit: number }

/** Where to scroll: the end, or a message by its number, which is pointed at unless `isQuiet`. */
export type Target = 'end' | { readonly seq: number; readonly isQuiet?: true }

/** The window of messages of one open conversation. */
export class MessagePages {
  readonly #client: FollowedClient
  readonly #conversationId: string
  readonly #onError: (error: unknown) => void
  readonly #list = signal<readonly StoredMessage[] | undefined>(undefined)
  readonly #hasEarlier = signal(false)
  readonly #hasLater = signal(false)
  readonly #target = signal<Target | undefined>(undefined)
  #part: Part = { limit: FIRST_PAGE }
  #stop: () => void = () => {}

  constructor(client: FollowedClient, conversationId: string, onError: (error: unknown) => void) {
    this.#client = client
    this.#conversationId = conversationId
    this.#onError = onError
  }

  /** The messages of the window in their order; undefined until they are read. */
  get list(): ReadonlySignal<readonly StoredMessage[] | undefined> {
    return this.#list
  }

  /** Whether there are messages before the window. */
  get hasEarlier(): ReadonlySignal<boolean> {
    return this.#hasEarlier
  }

  /** Whether there are messages after the window. */
  get hasLater(): ReadonlySignal<boolean> {
    return this.#hasLater
  }

  /** Where the list has yet to scroll to. The list calls `reached` when it has. */
  get target(): ReadonlySignal<Target | undefined> {
    return this.#target
  }

  /** Begins at the end, or at a message. Returns a function that stops it. */
  open(target: Target): () => void {
    this.show(target)
    return () => this.#stop()
  }

  /** Goes to the end or to a message, which need not be in the window. */
  show(target: Target): void {
    this.#target.value = target
    if (target === 'end') {
      if (this.#hasLater.value || !this.#list.value) this.#read({ limit: FIRST_PAGE })
    } else if (!this.#has(target.seq)) this.#read({ aroundSeq: target.seq, limit: HALF_WINDOW })
  }

  /** The list has scrolled to the target. */
  reached(): void {
    this.#target.value = undefined
  }

  /** Moves the window so that a message is in its middle. */
  moveTo(seq: number): void {
    if ('aroundSeq' in this.#part && this.#part.aroundSeq === seq) return
    this.#read({ aroundSeq: seq, limit: HALF_WINDOW })
  }

  /** Moves the window to the beginning of the conversation. */
  showBeginning(): void {
    this.show({ seq: 1 })
  }

  #has(seq: number): boolean {
    return this.#list.value?.some((message) => message.seq === seq) ?? false
  }

  #read(part: Part): void {
    this.#stop()
    this.#part = part
    this.#stop = follow(this.#client, messages(this.#conversationId, part), (list, error) => {
      if (list) this.#take(part, list)
      else this.#onError(error)
    })
  }

  #take(part: Part, list: readonly StoredMessage[]): void {
    const numbers = list.flatMap(({ seq }) => seq ?? [])
    const isAround = 'aroundSeq' in part
    const before = isAround ? numbers.filter((seq) => seq < part.aroundSeq).length : numbers.length
    batch(() => {
      this.#list.value = list
      this.#hasEarlier.value = before >= part.limit
      this.#hasLater.value = isAround && numbers.length - before > part.limit
    })
  }
}
