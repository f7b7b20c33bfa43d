// The interface of a benchmark: a sentence that describes it, and a run that returns the rows of a table.

/** The options of a run, from the command line. */
export interface BenchOptions {
  /** The length of each measurement. */
  readonly seconds: number
  /** The length of a run that is one long measurement, such as `soak`. */
  readonly minutes: number
  /** What to measure of a benchmark with named parts, such as `abuse`; all of it if empty. */
  readonly only: readonly string[]
}

/** The result of a run. */
export interface BenchResult {
  readonly settings: Readonly<Record<string, string | number>>
  readonly rows: readonly Readonly<Record<string, string | number>>[]
}

export interface Bench {
  readonly means: string
  /** The length of each measurement if the command line names none. */
  readonly defaultSeconds?: number
  run(options: BenchOptions): Promise<BenchResult>
}
