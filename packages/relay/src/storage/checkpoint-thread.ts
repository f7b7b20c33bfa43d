// The thread that brings SQLite's write-ahead log home: see checkpoints.ts.
import { Database } from 'bun:sqlite'
import type { CheckpointAnswer, CheckpointOrder } from './checkpoints.ts'

/** Pages of a log that is long, of 4 KiB: 64 MiB. */
const LONG = 16_384
/** Under load each pass leaves behind what was written while it ran, less every time. */
const PASSES = 2

declare const self: Worker

let database: Database | undefined

self.onmessage = ({ data: order }: MessageEvent<CheckpointOrder>) => {
  if (typeof order === 'object') {
    database = new Database(order.file)
    database.run('PRAGMA synchronous = FULL')
    // Writers wait for it, so that it waits for nobody: where a reader is in the way, the next round tries again.
    database.run('PRAGMA busy_timeout = 20')
    return
  }
  let answer: CheckpointAnswer = 'done'
  if (order === 'checkpoint') answer = bringHome() ? 'done' : 'log is long'
  else if (order === 'begin anew') run('RESTART')
  else database?.close(true)
  self.postMessage(answer)
}

/** @returns false where the log is long: it begins anew only when nobody writes to it while the last of it is copied */
function bringHome(): boolean {
  for (let pass = 0; pass < PASSES; pass++) {
    if (run('PASSIVE') < LONG) return true
  }
  return false
}

/** @returns the pages the log holds */
function run(mode: 'PASSIVE' | 'RESTART'): number {
  // Finalized at once: a statement that is left would keep the connection open beyond its end.
  using statement = database?.prepare<{ log: number }, []>(`PRAGMA wal_checkpoint(${mode})`)
  return statement?.get()?.log ?? 0
}
