// The worker thread that copies SQLite's write-ahead log into the database. See checkpoints.ts.
import { Database } from 'bun:sqlite'
import type { CheckpointAnswer, CheckpointOrder } from './checkpoints.ts'

/** A log of this many pages of 4 KiB (64 MiB) counts as long. */
const LONG_LOG_PAGES = 16_384
/** Under load each pass leaves the pages that were written while it ran. Each pass leaves fewer. */
const PASSES = 2

declare const self: Worker

let database: Database | undefined

self.onmessage = ({ data: order }: MessageEvent<CheckpointOrder>) => {
  if (typeof order === 'object') {
    database = new Database(order.file)
    database.run('PRAGMA synchronous = FULL')
    // Writers wait while the log restarts, so this thread must not wait long for readers. The next checkpoint
    // tries again.
    database.run('PRAGMA busy_timeout = 20')
    return
  }
  let answer: CheckpointAnswer = 'done'
  if (order === 'checkpoint') answer = checkpoint() ? 'done' : 'log is long'
  else if (order === 'restart log') run('RESTART')
  else if (order === 'empty log') answer = run('TRUNCATE').busy === 0 ? 'done' : 'log is in use'
  else database?.close(true)
  self.postMessage(answer)
}

/**
 * @returns false if the log is still long: it can restart only while no writer adds to it during the last
 *   copy
 */
function checkpoint(): boolean {
  for (let pass = 0; pass < PASSES; pass++) {
    if (run('PASSIVE').log < LONG_LOG_PAGES) return true
  }
  return false
}

/** @returns the number of pages in the log, and whether a reader or writer kept the mode from its end (1) */
function run(mode: 'PASSIVE' | 'RESTART' | 'TRUNCATE'): { log: number; busy: number } {
  // `using` finalizes the statement at once. An open statement would keep the connection from closing.
  using statement = database?.prepare<{ log: number; busy: number }, []>(`PRAGMA wal_checkpoint(${mode})`)
  return statement?.get() ?? { log: 0, busy: 1 }
}
