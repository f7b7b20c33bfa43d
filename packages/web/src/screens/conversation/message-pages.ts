// The part of a conversation that is read: a window of consecutive messages, which moves with what is seen.
// It is small whatever the length of the conversation, and read again after each change. A message that has
// not changed stays the same object, so that it is not drawn again.
import { batch, computed, type ReadonlySignal, signal } from '@preact/signals'
import type { StoredMessage } from '@sotto/client'
import { type FollowedClient, follow, messages } from '@sotto/client/signals'
import { withSame } from '../../session/same.ts'

/** The first page fills more than a screen; while scrolling, so many are before and after the middle. */
const FIRST_PAGE = 40
const HALF_WINDOW = 60

/** What is read: the end of the conversation, or the surroundings of a message. */
type Part = { readonly limit: number } | { readonly aroundSeq: number; readonly limit: number }

/** Where to scroll: the end, or a message by its number, which is pointed at unless `isQuiet`. */
export type Target = 'end' | { readonly seq: number; readonly isQuiet?: true }

/** The window of messages of one open conversation. */
export class MessagePages {
  readonly #client: FollowedClient
  readonly #conversationId: string
  readonly #onError: (error: unknown) => void
  readonly #read = signal<readonly StoredMessage[] | undefined>(undefined)
  /** What was sent and is not stored yet. It is shown at the end. */
  readonly #begun = signal<readonly StoredMessage[]>([])
  readonly #list = computed(() => {
    const [read, begun] = [this.#read.value, this.#begun.value]
    return !read || begun.length === 0 || this.#hasLater.value ? read : [...read, ...begun]
  })
  readonly #hasEarlier = signal(false)
  readonly #hasLater = signal(false)
  readonly #target = signal<Target | undefined>(undefined)
  #part: Part = { limit: FIRST_PAGE }
  #isReading = false
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
      if (this.#hasLater.value || !this.#list.value) this.#readPart({ limit: FIRST_PAGE })
    } else if (!this.#has(target.seq)) this.#readPart({ aroundSeq: target.seq, limit: HALF_WINDOW })
  }

  /** Shows a message that is being sent before it is stored, and goes to the end. */
  begin(message: StoredMessage): void {
    batch(() => {
      this.#begun.value = [...this.#begun.value, message]
      this.show('end')
    })
  }

  /** Takes back a message that could not be stored. */
  withdraw(id: string): void {
    this.#begun.value = this.#begun.value.filter((message) => message.id !== id)
  }

  /** The list has scrolled to the target. */
  reached(): void {
    this.#target.value = undefined
  }

  /**
   * Moves the window so that a message is in its middle. Does nothing while the window is being read: the
   * list asks again when it has changed.
   */
  moveTo(seq: number): void {
    if (this.#isReading || ('aroundSeq' in this.#part && this.#part.aroundSeq === seq)) return
    this.#readPart({ aroundSeq: seq, limit: HALF_WINDOW })
  }

  /** The end is in view: the window stays there from now on, however many messages come. */
  stayAtEnd(): void {
    if ('aroundSeq' in this.#part && !this.#isReading) this.#readPart({ limit: 2 * HALF_WINDOW })
  }

  /** Moves the window to the beginning of the conversation. */
  showBeginning(): void {
    this.show({ seq: 1 })
  }

  #has(seq: number): boolean {
    return this.#list.value?.some((message) => message.seq === seq) ?? false
  }

  #readPart(part: Part): void {
    this.#stop()
    this.#part = part
    this.#isReading = true
    this.#stop = follow(this.#client, messages(this.#conversationId, part), (list, error) => {
      this.#isReading = false
      if (list) this.#take(part, list)
      else this.#onError(error)
    })
  }

  #take(part: Part, list: readonly StoredMessage[]): void {
    const numbers = list.flatMap(({ seq }) => seq ?? [])
    const isAround = 'aroundSeq' in part
    const before = isAround ? numbers.filter((seq) => seq < part.aroundSeq).length : numbers.length
    batch(() => {
      this.#read.value = withSame(this.#read.value ?? [], list)
      this.#begun.value = this.#begun.value.filter(({ id }) => !list.some((one) => one.isMe && one.id === id))
      this.#hasEarlier.value = before >= part.limit
      this.#hasLater.value = isAround && numbers.length - before > part.limit
    })
  }
}
