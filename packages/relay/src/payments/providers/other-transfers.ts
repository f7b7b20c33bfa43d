// Transfers of tokens nobody is paid in, which anybody can send to anybody for next to nothing.

/** Of one address, no more than these are recorded until the relay starts again. */
const MOST_OTHERS = 20

/** The first such transfers to each address. */
export class OtherTransfers {
  readonly #known = new Map<string, Set<string>>()

  /** @param transfer what it is known by, the same whenever it is seen */
  isWorthRecording(payTo: string, transfer: string): boolean {
    const known = this.#known.get(payTo) ?? new Set()
    this.#known.set(payTo, known)
    if (known.size < MOST_OTHERS) known.add(transfer)
    return known.has(transfer)
  }
}
