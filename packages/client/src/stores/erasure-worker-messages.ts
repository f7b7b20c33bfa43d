// What a page and its worker for the erasure key say to each other.
import type { SlotIndex } from './erasure-slots.ts'

/** A question of the page. `file` is the name of the file in the origin's private file system. */
export type SlotsQuestion = { readonly id: number; readonly file: string } & (
  | { readonly ask: 'read' }
  | {
      readonly ask: 'replace'
      readonly slot: SlotIndex
      readonly before: Uint8Array
      readonly after: Uint8Array
    }
)

/**
 * The worker's answer. `missing`: this browser has no files that are written in place. `locked`: another tab
 * holds the file. `changed`: the slot does not hold `before`; nothing was written.
 */
export type SlotsAnswer = { readonly id: number } & (
  | { readonly slots: readonly [Uint8Array, Uint8Array] }
  | { readonly refusal: 'missing' | 'locked' | 'changed' }
  | { readonly failure: string }
)
