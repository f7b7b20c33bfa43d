// Who is typing. A notice says it, and counts for some seconds.
import { type ReadonlySignal, signal } from '@preact/signals'

/** How long a notice counts, unless the next one comes before. */
const NOTICE_MS = 6000

export class Typing {
  readonly #conversations = signal<ReadonlySet<string>>(new Set())
  readonly #timers = new Map<string, ReturnType<typeof setTimeout>>()

  /** The conversations whose contact is typing. */
  get conversations(): ReadonlySignal<ReadonlySet<string>> {
    return this.#conversations
  }

  /** The contact of a conversation is typing. */
  show(id: string): void {
    clearTimeout(this.#timers.get(id))
    this.#timers.set(
      id,
      setTimeout(() => this.hide(id), NOTICE_MS),
    )
    this.#conversations.value = new Set([...this.#conversations.value, id])
  }

  /** The contact is not typing any more. */
  hide(id: string): void {
    const timer = this.#timers.get(id)
    if (timer === undefined) return
    clearTimeout(timer)
    this.#timers.delete(id)
    this.#conversations.value = new Set([...this.#conversations.value].filter((each) => each !== id))
  }
}
