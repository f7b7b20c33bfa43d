// Something that is on or off, and is turned by commands of which nobody may know whether they took effect: a
// friendship, a block. All that is known of a command is between which two events it took effect, if it did.

/** A command that turns it, or may have. */
export interface Change {
  readonly on: boolean
  readonly began: number
  /** By then it has taken effect, or never will. */
  ended: number
  isCertain: boolean
  /** When it was given up without an answer. */
  givenUpAt: number | undefined
}

type Sight = Pick<Change, 'on' | 'began' | 'ended'>

export class Switch {
  readonly #changes: Change[]
  /** What somebody saw at some moment between two events. */
  readonly #sights: Sight[] = []

  /** @param at the event since which it is so */
  constructor(on: boolean, at: number) {
    this.#changes = [{ on, began: at, ended: at, isCertain: true, givenUpAt: undefined }]
  }

  /** A command that may take effect from here on. */
  begin(on: boolean, n: number): Change {
    const change = { on, began: n, ended: Number.POSITIVE_INFINITY, isCertain: false, givenUpAt: undefined }
    this.#changes.push(change)
    return change
  }

  /** It was refused: it has taken no effect. */
  drop(change: Change): void {
    this.#changes.splice(this.#changes.indexOf(change), 1)
  }

  saw(on: boolean, began: number, ended: number): void {
    if (this.#changes.length > 1) this.#sights.push({ on, began, ended })
  }

  /**
   * A later command was answered: what was given up before it began has taken effect by now, or never will. On the
   * relay, one that was under way has died with its process or comes first.
   */
  settle(began: number, ended: number): void {
    for (const change of this.#changes)
      if (change.givenUpAt !== undefined && change.givenUpAt < began)
        change.ended = Math.min(change.ended, ended)
  }

  /** Whether it can have been so at some moment between two events. */
  canBe(on: boolean, from: number, to: number): boolean {
    const isUndone = ({ began, ended }: Change): boolean => {
      const by = Math.max(from, began)
      const undoes = (other: Sight): boolean => other.on !== on && other.began > ended && other.ended <= by
      return this.#changes.some((other) => other.isCertain && undoes(other)) || this.#sights.some(undoes)
    }
    return this.#changes.some((change) => change.on === on && change.began <= to && !isUndone(change))
  }
}
