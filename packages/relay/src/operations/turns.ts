// Turns: the times in which this node does work that only one node of the relay does at a time.
import type { Sliced } from './slices.ts'

/**
 * What the work of a turn uses. Its signal aborts when the turn ends. Each transaction of its storage fails
 * with {@link TurnOver} once another node's turn may have begun, also if this node did not notice it yet.
 */
export type Turn = Sliced

/** The turns of one kind of work. */
export interface Turns {
  /** This node's turn; undefined while it may be another node's. */
  readonly current: Turn | undefined
  /**
   * Runs `work` in each turn of this node. Call it before the turns start. `work` must end soon after its
   * signal aborts, because the next turn waits for it.
   */
  inEach(work: (turn: Turn) => Promise<void>): void
}

/** The turn is over, so nothing was written. */
export class TurnOver extends Error {
  override readonly name = 'TurnOver'
  constructor() {
    super('another node may do this work now')
  }
}
