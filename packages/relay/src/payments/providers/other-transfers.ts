// Limits how many transfers of other tokens are recorded, because anybody can send worthless tokens at almost
// no cost.

/** At most this many are recorded for each address, until the relay restarts. */
const MOST_OTHERS = 20

/** Remembers the first such transfers to each address. */
export class OtherTransfers {
  readonly #recordedByAddress = new Map<string, Set<string>>()

  /** @param transfer its name, the same each time it is seen */
  isWorthRecording(payTo: string, transfer: string): boolean {
    const recorded = this.#recordedByAddress.get(payTo) ?? new Set()
    this.#recordedByAddress.set(payTo, recorded)
    if (recorded.size < MOST_OTHERS) recorded.add(transfer)
    return recorded.has(transfer)
  }
}
