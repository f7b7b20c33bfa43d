// Two accounts that know each other, as a history shows them: whether they are friends, whether one blocks the other,
// and the numbers of their conversation.
import type { Member } from './history.ts'
import { type Change, Switch } from './switch.ts'

/** A number of a conversation. */
export interface NumberFact {
  /** What has it. */
  readonly owner: string
  readonly at: number
  /** What has it was first sent here, and the first to show the number is there. */
  readonly sentAt: number
  readonly seenAt: number
}

/** A request for friendship. */
export interface Ask {
  readonly by: number
  readonly began: number
  ended: number
  /** The number it got, once that is known. */
  friendship: number | undefined
}

export class Pair {
  readonly members: readonly [Member, Member]
  readonly friends: Switch
  /** Commands that erase what is undelivered between the two. */
  readonly erasures: Change[] = []
  readonly asks: Ask[] = []
  /** Who has accepted, or asked in turn, whatever came of it. */
  readonly accepters = new Set<number>()
  readonly numbers = new Map<number, NumberFact>()
  /** Their conversation, once somebody was told of it. */
  conv: string | undefined
  readonly #blocks: Readonly<Record<number, Switch>>

  constructor(members: readonly [Member, Member], areFriends: boolean, n: number) {
    const [low, high] = members
    this.members = members
    this.friends = new Switch(areFriends, n)
    this.#blocks = { [low.client]: new Switch(false, n), [high.client]: new Switch(false, n) }
  }

  /** Whether this one of the two blocks the other. */
  blockBy(client: number): Switch {
    const found = this.#blocks[client]
    if (!found) throw new Error(`client ${client} is neither of the two`)
    return found
  }

  /** An answer came: see {@link Switch.settle}. */
  settle(began: number, ended: number): void {
    for (const each of [this.friends, ...Object.values(this.#blocks)]) each.settle(began, ended)
  }

  /** Whether what was sent here, or came to be there later, may have been erased because the two parted. */
  mayErase(since: number): boolean {
    return this.erasures.some(({ ended }) => ended >= since)
  }

  /** Whether what was there at `since` was erased for certain before `until`. */
  hasErased(since: number, until: number): boolean {
    return this.erasures.some(({ isCertain, began, ended }) => isCertain && began > since && ended < until)
  }
}
