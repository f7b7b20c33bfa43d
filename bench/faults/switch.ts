// A state that is on or off, such as a friendship or a block. Commands turn it, but their outcome may be
// unknown: a command took effect between two known events, or not at all.

/** A command that turned the switch, or may have. */
export interface Change {
  readonly on: boolean
  readonly began: number
  /** The event by which it has taken effect, or never will. */
  ended: number
  isCertain: boolean
  /** When the client gave it up without an answer. */
  givenUpAt: number | undefined
}

type Sight = Pick<Change, 'on' | 'began' | 'ended'>

export class Switch {
  readonly #changes: Change[]
  /** A state that a client saw at some moment between two events. */
  readonly #sights: Sight[] = []

  /** @param at the event since which the switch has this state */
  constructor(on: boolean, at: number) {
    this.#changes = [{ on, began: at, ended: at, isCertain: true, givenUpAt: undefined }]
  }

  /** Adds a command that may take effect from now on. */
  begin(on: boolean, n: number): Change {
    const change = { on, began: n, ended: Number.POSITIVE_INFINITY, isCertain: false, givenUpAt: undefined }
    this.#changes.push(change)
    return change
  }

  /** The command was refused, so it had no effect. */
  drop(change: Change): void {
    this.#changes.splice(this.#changes.indexOf(change), 1)
  }

  saw(on: boolean, began: number, ended: number): void {
    if (this.#changes.length > 1) this.#sights.push({ on, began, ended })
  }

  /**
   * Call it when a command was answered. A command that was given up earlier has then taken effect or never
   * will: the relay runs commands in order, and a killed relay forgets them.
   * @param settled when it began; with several nodes, the last event before at which nothing was under way
   */
  settle(settled: number, ended: number): void {
    for (const change of this.#changes)
      if (change.givenUpAt !== undefined && change.givenUpAt < settled)
        change.ended = Math.min(change.ended, ended)
  }

  /** Whether the switch can have had this state at some moment between two events. */
  canBe(on: boolean, from: number, to: number): boolean {
    const isUndone = ({ began, ended }: Change): boolean => {
      const by = Math.max(from, began)
      const undoes = (other: Sight): boolean => other.on !== on && other.began > ended && other.ended <= by
      return this.#changes.some((other) => other.isCertain && undoes(other)) || this.#sights.some(undoes)
    }
    return this.#changes.some((change) => change.on === on && change.began <= to && !isUndone(change))
  }
}
