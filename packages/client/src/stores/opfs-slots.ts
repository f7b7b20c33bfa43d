// Slots in a browser: in a file of the origin's private file system, which a worker overwrites in place.
import type { ErasureSlots } from './erasure-slots.ts'
import { rowSlots } from './row-slots.ts'
import { fileOf, hasFiles, Missing, SlotsWorker } from './slots-worker.ts'
import type { ClientStore } from './store.ts'

/**
 * Opens the slots of the database of this name. In a browser without such files they are records of the
 * `store`, and `kind` says so.
 * @throws ClientError `UNSUPPORTED` if the worker does not start, `STORE_FAILED`, `STORE_LOCKED`
 */
export async function openOpfsSlots(
  store: Pick<ClientStore, 'findSecret' | 'write'>,
  name: string,
  startWorker?: () => Worker,
): Promise<ErasureSlots> {
  if (!hasFiles()) return rowSlots(store, 'rows')
  const worker = new SlotsWorker(fileOf(name), startWorker)
  try {
    await worker.ask({ ask: 'read' })
  } catch (error) {
    await worker.close()
    if (error instanceof Missing) return rowSlots(store, 'rows')
    throw error
  }
  return {
    kind: 'opfs',
    read: () => worker.ask({ ask: 'read' }),
    async replace(slot, before, after) {
      await worker.ask({ ask: 'replace', slot, before, after })
    },
    close: () => worker.close(),
  }
}
