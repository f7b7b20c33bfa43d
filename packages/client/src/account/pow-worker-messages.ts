// The messages between the page and the worker for the proof of work.

/** The work that the worker has to do. */
export interface WorkerQuestion {
  readonly challenge: string
  readonly difficulty: number
  readonly maxAttempts: number
}

/** The number of attempts until now, the nonce, or why there is none. */
export type WorkerAnswer =
  | { readonly attempts: number }
  | { readonly nonce: string }
  | { readonly failure: string }
