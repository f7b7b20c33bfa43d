// What the page and the worker for the proof of work say to each other.

/** The work, as the worker is given it. */
export interface WorkerQuestion {
  readonly challenge: string
  readonly difficulty: number
  readonly maxAttempts: number
}

/** Attempts made so far, the nonce, or why there is none. */
export type WorkerAnswer =
  | { readonly attempts: number }
  | { readonly nonce: string }
  | { readonly failure: string }
