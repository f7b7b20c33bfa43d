// How much the benchmark of the app measures.

/** The sizes of a measurement. Its tests have small ones. */
export interface Sizes {
  /** Conversations of the account with the long conversation. */
  readonly few: number
  /** Conversations of the other account. */
  readonly many: number
  /** Messages of the long conversation. */
  readonly messages: number
  /** Messages that arrive after an absence. */
  readonly arrivals: number
  /** Simulated minutes of use. */
  readonly minutes: number
  /** Seconds of scrolling. */
  readonly seconds: number
  /** Runs of each measurement. */
  readonly rounds: number
}
