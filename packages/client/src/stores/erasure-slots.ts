// The place of the key that is erased: two slots that are overwritten in place. Each kind of store brings its
// own. A map beside the stores keeps this out of the interface of stores.
import type { ClientStore } from './store.ts'

/** The name of the secret that holds the keys of all others (keyring.ts). */
export const KEYRING = 'keyring'

/**
 * Where the slots are. What was overwritten is gone with `file` (beside a file store) and `opfs` (the
 * origin's private file system), as far as the disk can do that, and with `memory` at the latest with the
 * process. With `rows`, in the database of a browser without such files, copies stay until the browser
 * removes them.
 */
export type Erasure = 'file' | 'opfs' | 'rows' | 'memory'

/** The length of a slot. */
export const SLOT_BYTES = 32

/** One of the two slots. */
export type SlotIndex = 0 | 1

/** Two slots of 32 bytes, all zeros at first. */
export interface ErasureSlots {
  readonly kind: Erasure
  /** @throws ClientError `STORE_FAILED`, `STORE_LOCKED` while another tab holds them. */
  read(): Promise<readonly [Uint8Array, Uint8Array]>
  /**
   * Overwrites a slot in place. Resolves once that is durable.
   * @throws ClientError `STORE_LOCKED`, with nothing changed, if the slot does not hold `before`: another
   *   client has taken over. `STORE_FAILED` if it is not known what the slot holds.
   */
  replace(slot: SlotIndex, before: Uint8Array, after: Uint8Array): Promise<void>
  close(): Promise<void>
}

/**
 * Where a store has its slots: in its own records in memory, in a file of this name of the browser, or where
 * this function opens them. It imports nothing, so that a page with a store does not load the code of slots.
 */
export type SlotsPlace =
  | { readonly memory: true }
  | { readonly file: string }
  | { readonly open: () => Promise<ErasureSlots> }

const places = new WeakMap<Pick<ClientStore, 'findSecret'>, SlotsPlace>()

/** Says where a store has its slots. */
export function grantSlots(store: Pick<ClientStore, 'findSecret'>, place: SlotsPlace | undefined): void {
  if (place) places.set(store, place)
}

/** Where a store has its slots; undefined for a store that has none of its own. */
export function slotsOf(store: Pick<ClientStore, 'findSecret'>): SlotsPlace | undefined {
  return places.get(store)
}
