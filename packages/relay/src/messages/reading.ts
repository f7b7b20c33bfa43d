// The state of a delivery while it reads the store, and its wait for a peer that receives slowly.

/** The store is being read. One loop reads for as long as this object is the state. */
export interface Reading {
  readonly kind: 'reading'
  /** How many requests to send everything unconfirmed from the start are not answered yet. */
  requestedRestarts: number
  /** The last position that a ring announced. Reading must not end before it. */
  announcedPosition: number
  /**
   * Whether only receipts and notices are left to read. Rings are then sent at once, as in the live state.
   */
  isCaughtUp: boolean
  /** Whether to query again, because messages may have been stored without a ring. */
  mustReadAgain: boolean
  /** Set while the loop waits until the peer has received more of what was sent. */
  resumeWhenDrained: (() => void) | undefined
}

/** A reading that has not begun. */
export function newReading(
  start: Pick<Reading, 'announcedPosition'> & Partial<Pick<Reading, 'requestedRestarts'>>,
): Reading {
  return {
    kind: 'reading',
    requestedRestarts: 0,
    isCaughtUp: false,
    mustReadAgain: false,
    resumeWhenDrained: undefined,
    ...start,
  }
}

/** Waits until {@link resume} is called. */
export function untilDrained(reading: Reading): Promise<void> {
  return new Promise((resolve) => {
    reading.resumeWhenDrained = resolve
  })
}

/** The peer has received more, or the delivery ends. */
export function resume(reading: Reading): void {
  reading.resumeWhenDrained?.()
  reading.resumeWhenDrained = undefined
}
