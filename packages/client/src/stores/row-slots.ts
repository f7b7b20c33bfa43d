// Slots as records of the store itself: for stores in memory, and for browsers without files.
import { decodeBase64, encodeBase64 } from '@sotto/crypto'
import { asClientError, ClientError } from '../client-error.ts'
import { type Erasure, type ErasureSlots, SLOT_BYTES, type SlotIndex } from './erasure-slots.ts'
import { ERASED, isSameSlot } from './slot-bytes.ts'
import { takenOver } from './slot-taken-over.ts'
import type { ClientStore } from './store.ts'

/** Opens slots that are records of a store. */
export function rowSlots(
  store: Pick<ClientStore, 'findSecret' | 'write'>,
  kind: Extract<Erasure, 'rows' | 'memory'>,
): ErasureSlots {
  const read = async (slot: SlotIndex): Promise<Uint8Array> => {
    const value = await store.findSecret(nameOf(slot))
    if (value === undefined) return ERASED.slice()
    const bytes = decoded(value)
    if (bytes.length !== SLOT_BYTES) throw new ClientError('STORE_FAILED', 'a slot of the store is invalid')
    return bytes
  }
  return {
    kind,
    read: async () => [await read(0), await read(1)],
    async replace(slot, before, after) {
      if (!isSameSlot(await read(slot), before)) throw takenOver()
      const value = encodeBase64(after)
      await store.write([
        { change: 'secret', name: nameOf(slot), ...(isSameSlot(after, ERASED) ? {} : { value }) },
      ])
    },
    async close() {},
  }
}

function nameOf(slot: SlotIndex): string {
  return `slot ${slot}`
}

function decoded(value: string): Uint8Array {
  try {
    return decodeBase64(value)
  } catch (cause) {
    throw asClientError(cause, 'STORE_FAILED')
  }
}
