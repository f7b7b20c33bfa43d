// One thing that is being sent.
import { type ReadonlySignal, type Signal, signal } from '@preact/signals'
import type { Sendable, UploadRecord } from './sendable.ts'

/** Something that is being sent, waits for it, or could not be sent. */
export interface Upload extends Omit<UploadRecord, 'source'> {
  /** Undefined for a file from before a reload: only what was sealed of it is there. */
  readonly source: Sendable['source'] | undefined
  /** How much is done, from 0 to 1. */
  readonly progress: ReadonlySignal<number>
  /** Why it was not sent. */
  readonly error: ReadonlySignal<unknown>
}

/** The same, as what sends it knows it. */
export interface Job extends Upload {
  readonly progress: Signal<number>
  readonly error: Signal<unknown>
  /** What is stored of it. */
  record: UploadRecord
  /** The file as it is kept, once it is. */
  sealed: Blob | undefined
  /** Resolves once all is kept that can be. */
  kept: Promise<void>
  abort: AbortController
  /** Resolves once it is not in the list any more. Until then this tab holds its lock. */
  readonly left: Promise<void>
  readonly leave: () => void
}

/** What is to be sent, by its record. */
export function jobOf(record: UploadRecord, source: Sendable['source'] | undefined): Job {
  const { promise: left, resolve: leave } = Promise.withResolvers<void>()
  return {
    ...record,
    record,
    source,
    sealed: undefined,
    progress: signal(0),
    error: signal(undefined),
    kept: Promise.resolve(),
    abort: new AbortController(),
    left,
    leave,
  }
}
