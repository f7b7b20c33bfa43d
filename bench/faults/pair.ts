// Two accounts that know each other, according to a history: their friendship, their blocks, and the numbers
// of their conversation.
import type { Member } from './history.ts'
import { type Change, Switch } from './switch.ts'

/** A number of a conversation. */
export interface NumberFact {
  /** The message or retraction with this number. */
  readonly owner: string
  readonly at: number
  /** The event of its first sending, and the first event that shows the number. */
  readonly sentAt: number
  readonly seenAt: number
}

/** A request for friendship. */
export interface Ask {
  readonly by: number
  readonly began: number
  ended: number
  /** Its number, once known. */
  friendship: number | undefined
}

export class Pair {
  readonly members: readonly [Member, Member]
  readonly friends: Switch
  /** Commands that erase undelivered messages between the two. */
  readonly erasures: Change[] = []
  readonly asks: Ask[] = []
  /** The clients that have accepted or also asked, with any outcome. */
  readonly accepters = new Set<number>()
  readonly numbers = new Map<number, NumberFact>()
  /** Their conversation, once a client has learned it. */
  conv: string | undefined
  readonly #blocks: Readonly<Record<number, Switch>>

  constructor(members: readonly [Member, Member], areFriends: boolean, n: number) {
    const [low, high] = members
    this.members = members
    this.friends = new Switch(areFriends, n)
    this.#blocks = { [low.client]: new Switch(false, n), [high.client]: new Switch(false, n) }
  }

  /** Whether this side blocks the other. */
  blockBy(client: number): Switch {
    const found = this.#blocks[client]
    if (!found) throw new Error(`client ${client} is neither of the two`)
    return found
  }

  /** An answer arrived: see {@link Switch.settle}. */
  settle(settled: number, ended: number): void {
    for (const each of [this.friends, ...Object.values(this.#blocks)]) each.settle(settled, ended)
  }

  /** Whether a message sent here, or stored later, may have been erased because the friendship ended. */
  mayErase(since: number): boolean {
    return this.erasures.some(({ ended }) => ended >= since)
  }

  /** Whether messages stored at `since` were certainly erased before `until`. */
  hasErased(since: number, until: number): boolean {
    return this.erasures.some(({ isCertain, began, ended }) => isCertain && began > since && ended < until)
  }
}
