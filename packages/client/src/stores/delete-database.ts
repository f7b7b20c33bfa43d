// Deletes an IndexedDB database, and overwrites the file of its erasure key.
import { unblocked } from './indexeddb-open.ts'
import { storeFailure } from './indexeddb-queue.ts'
import { fileOf, hasFiles, SlotsWorker } from './slots-worker.ts'

/** Options of `deleteDatabase`. */
export interface DeleteDatabaseOptions {
  /** Starts the worker that erases keys: see `forwardSecrecy`. By default the one of this package. */
  readonly startWorker?: () => Worker
}

/**
 * Deletes a store and everything in it. Closes stores of this name that are open in any tab.
 * @throws ClientError `STORE_LOCKED` if one does not close, `STORE_FAILED`.
 */
export async function deleteDatabase(
  name = 'sotto',
  { startWorker }: DeleteDatabaseOptions = {},
): Promise<void> {
  try {
    await unblocked(indexedDB.deleteDatabase(name), () => {})
    await removeSlots(name, startWorker)
  } catch (error) {
    throw storeFailure(error)
  }
}

/** Overwrites and removes the file of a database, if there is one. */
async function removeSlots(name: string, startWorker: (() => Worker) | undefined): Promise<void> {
  if (!hasFiles()) return
  const file = fileOf(name)
  let root: FileSystemDirectoryHandle
  try {
    root = await navigator.storage.getDirectory()
    await root.getFileHandle(file)
  } catch (error) {
    // There is no file, or the browser has none for a private window.
    if (error instanceof Error && ['NotFoundError', 'SecurityError'].includes(error.name)) return
    throw error
  }
  const worker = new SlotsWorker(file, startWorker)
  try {
    const slots = await worker.ask({ ask: 'read' })
    for (const slot of [0, 1] as const) {
      const [before, after] = [slots[slot], new Uint8Array(slots[slot].length)]
      await worker.ask({ ask: 'replace', slot, before, after })
    }
  } finally {
    await worker.close()
    await root.removeEntry(file)
  }
}
