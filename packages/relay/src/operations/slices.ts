// Long work on many rows, in short transactions: nothing else has to wait for all of it.
import type { Sql, Storage } from '../storage/storage.ts'

/** How many rows one transaction should change: a few milliseconds of the event loop on SQLite. */
export const ROWS_PER_SLICE = 100

/** What long work needs. It ends with an error at the next slice after the signal aborts. */
export interface Sliced {
  readonly storage: Storage
  readonly signal: AbortSignal
}

/**
 * Runs `slice` in one transaction after another until it returns undefined. Otherwise it returns where the
 * next one continues. What was done stays done if the process ends in between.
 */
export async function inSlices<Place>(
  { storage, signal }: Sliced,
  start: Place,
  slice: (sql: Sql, from: Place) => Promise<Place | undefined>,
): Promise<void> {
  let place: Place | undefined = start
  while (place !== undefined) {
    signal.throwIfAborted()
    const from: Place = place
    place = await storage.transaction((sql) => slice(sql, from))
  }
}

/** For a slice that deletes what it finds: undefined if it found less than a whole slice. */
export function moreAfter(rows: readonly unknown[]): 'more' | undefined {
  return rows.length < ROWS_PER_SLICE ? undefined : 'more'
}
