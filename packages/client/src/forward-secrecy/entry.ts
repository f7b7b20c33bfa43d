// The entry of the package for applications whose messages have forward secrecy.
import { giveWorker } from './given-worker.ts'
import { LateForward } from './late-forward.ts'
import { loadForwardSecrecy, provideForwardSecrecy } from './provided.ts'

/** Options of `forwardSecrecy`. */
export interface ForwardSecrecyOptions {
  /**
   * Starts the worker that erases keys, in a browser. For bundlers that do not find its script, and for pages
   * with Trusted Types: `() => new Worker('/assets/erasure-worker.js', { type: 'module' })` with
   * `@sotto/client/erasure-worker` as its source. Give the same to `deleteDatabase`.
   */
  readonly startWorker?: () => Worker
}

/**
 * The value of the option `forwardSecrecy`. What it needs is a script of its own, which a client loads when a
 * conversation needs it. The options of the last call hold for every client of the page.
 */
export function forwardSecrecy({ startWorker }: ForwardSecrecyOptions = {}): true {
  giveWorker(startWorker)
  provideForwardSecrecy({
    open: (context) => new LateForward(context, loadForwardSecrecy),
    load: () => import('./forward-secrecy.ts'),
  })
  return true
}
