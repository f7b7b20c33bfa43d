// The state of one conversation in the secret states: the state itself, which every step writes, and blocks
// of own messages that nobody has acknowledged for long.
import {
  type Course,
  decodeBlock,
  decodeInBlocks,
  encodeBlock,
  encodeInBlocks,
  newCourse,
  type SentBlock,
} from '../secrecy/version-3/version-3.ts'
import type { SecretStates, SecretUpdate } from '../stores/secret-states.ts'

/** What to write with a step, and what to call once that is durable. */
export interface CourseUpdate {
  readonly updates: readonly SecretUpdate[]
  readonly after: () => void
}

/** Reads and writes one conversation's course. One write is durable before the next begins. */
export class StoredCourse {
  readonly #states: SecretStates
  readonly #conversationId: string
  #blocks: readonly SentBlock[] = []
  /** The numbers of all blocks in the store, also of those that no state names. */
  #numbers: readonly number[] = []

  constructor(states: SecretStates, conversationId: string) {
    this.#states = states
    this.#conversationId = conversationId
  }

  /**
   * A record that no key opens is lost: without its state, the course rejoins. What another version of this
   * program has written must stay as it is.
   */
  async read(): Promise<Course | 'later_version'> {
    const prefix = this.#nameOf('')
    const names = await this.#states.list('sent')
    const own = names.filter((name) => name.startsWith(prefix))
    this.#numbers = own.map((name) => Number(name.slice(prefix.length)))
    const records = new Map<number, Uint8Array>()
    for (const number of this.#numbers) {
      const record = await this.#states.get('sent', this.#nameOf(number))
      if (record instanceof Uint8Array) records.set(number, record)
    }
    const state = await this.#states.get('conversation', this.#conversationId)
    if (!(state instanceof Uint8Array)) return newCourse()
    try {
      const stored = Array.from(records, ([number, record]) => [number, decodeBlock(record)] as const)
      const { course, blocks } = decodeInBlocks(state, new Map(stored))
      this.#blocks = blocks
      return course
    } catch {
      // It was sealed on this device as it is.
      return 'later_version'
    }
  }

  /** The state with the blocks that are new, and without those that are no blocks any more. */
  update(course: Course): CourseUpdate {
    const { state, blocks } = encodeInBlocks(course, this.#blocks)
    const numbers = blocks.map(({ number }) => number)
    // Not by the store: the record of a number there may be one that could not be read.
    const before = new Set(this.#blocks.map(({ number }) => number))
    const kept = new Set(numbers)
    return {
      updates: [
        { kind: 'conversation', id: this.#conversationId, state },
        ...blocks
          .filter(({ number }) => !before.has(number))
          .map((block) => this.#updateOf(block.number, encodeBlock(block))),
        ...this.#numbers.filter((number) => !kept.has(number)).map((number) => this.#updateOf(number)),
      ],
      after: () => {
        this.#blocks = blocks
        this.#numbers = numbers
      },
    }
  }

  #updateOf(number: number, state?: Uint8Array): SecretUpdate {
    return { kind: 'sent', id: this.#nameOf(number), state }
  }

  #nameOf(number: number | ''): string {
    return `${this.#conversationId} ${number}`
  }
}
