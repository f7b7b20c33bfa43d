// What a benchmark is: a name, one sentence, and a run that gives rows.

/** How a run is asked for. */
export interface BenchOptions {
  /** How long each measurement lasts. */
  readonly seconds: number
  /** How long a run lasts that is one long measurement. */
  readonly minutes: number
}

/** What a run gave. */
export interface BenchResult {
  readonly settings: Readonly<Record<string, string | number>>
  readonly rows: readonly Readonly<Record<string, string | number>>[]
}

export interface Bench {
  readonly means: string
  run(options: BenchOptions): Promise<BenchResult>
}
