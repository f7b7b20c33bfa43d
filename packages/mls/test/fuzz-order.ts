// What the fuzz worker and its watcher tell each other.

/** What the worker is told: where it writes the number and bytes of the input that it works on. */
export interface FuzzOrder {
  seed: number
  count: number
  progress: SharedArrayBuffer
}

/** What it answers: how many inputs were taken by each decoder as valid, or what went wrong. */
export type FuzzAnswer = { taken: Record<string, number> } | { wrong: string }

/** Bytes before the input in the shared memory: its number and its length. */
export const INPUT_AT = 8
