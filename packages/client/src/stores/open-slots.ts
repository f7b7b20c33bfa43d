// Opens the slots of any store.
import { type ErasureSlots, slotsOf } from './erasure-slots.ts'
import { openOpfsSlots } from './opfs-slots.ts'
import { rowSlots } from './row-slots.ts'
import type { ClientStore } from './store.ts'

/**
 * Opens the slots of a store, and makes them if there are none. For a store that has none of its own they are
 * records of it.
 * @throws ClientError `UNSUPPORTED`, `STORE_FAILED`, `STORE_LOCKED`
 */
export async function openSlotsOf(
  store: Pick<ClientStore, 'findSecret' | 'write'>,
  startWorker?: () => Worker,
): Promise<ErasureSlots> {
  const place = slotsOf(store)
  if (!place) return rowSlots(store, 'rows')
  if ('open' in place) return place.open()
  return 'file' in place ? openOpfsSlots(store, place.file, startWorker) : rowSlots(store, 'memory')
}
