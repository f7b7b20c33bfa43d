// What every kind of slots does with bytes. The worker has it, too, so it imports no errors.
import { SLOT_BYTES } from './erasure-slots.ts'

/** The content of an erased slot. */
export const ERASED: Uint8Array = new Uint8Array(SLOT_BYTES)

/** Whether two slots have the same content. */
export function isSameSlot(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, at) => byte === b[at])
}
