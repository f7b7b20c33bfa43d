// Slots in a file, for Node and Bun: each one is written at its place, and synced.
import { type FileHandle, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { asClientError, ClientError } from '../client-error.ts'
import { type ErasureSlots, SLOT_BYTES, type SlotIndex } from './erasure-slots.ts'
import { isSameSlot } from './slot-bytes.ts'
import { takenOver } from './slot-taken-over.ts'
import { syncFolder } from './sync-folder.ts'

/** Each slot has a block of its own, so that a torn write of one does not touch the other. */
const BLOCK_BYTES = 4096

/**
 * Opens the slots in the file of this path. Makes the file if it does not exist, for the owner only.
 * @throws ClientError `STORE_FAILED`
 */
export async function openFileSlots(path: string): Promise<ErasureSlots> {
  let file: FileHandle
  try {
    file = await openSized(path)
  } catch (error) {
    throw asClientError(error, 'STORE_FAILED')
  }
  const read = async (slot: SlotIndex): Promise<Uint8Array> => {
    const bytes = new Uint8Array(SLOT_BYTES)
    const { bytesRead } = await file.read(bytes, 0, SLOT_BYTES, slot * BLOCK_BYTES)
    if (bytesRead !== SLOT_BYTES)
      throw new ClientError('STORE_FAILED', 'the file of the erasure key is short')
    return bytes
  }
  return {
    kind: 'file',
    read: () => settled(async () => [await read(0), await read(1)] as const),
    replace: (slot, before, after) =>
      settled(async () => {
        if (!isSameSlot(await read(slot), before)) throw takenOver()
        const { bytesWritten } = await file.write(after, 0, SLOT_BYTES, slot * BLOCK_BYTES)
        if (bytesWritten !== SLOT_BYTES) throw new ClientError('STORE_FAILED', 'a slot was not written whole')
        await file.datasync()
      }),
    close: () => settled(() => file.close()),
  }
}

/** The file, with room for both slots. What a crash left of its first write is completed. */
async function openSized(path: string): Promise<FileHandle> {
  // `a` would write at the end. `r+` does not create.
  const created = await open(path, 'a', 0o600)
  await created.close()
  const file = await open(path, 'r+')
  try {
    const { size } = await file.stat()
    if (size < 2 * BLOCK_BYTES) {
      // Zeros are written, because a hole in the file would get its blocks only later.
      await file.write(new Uint8Array(2 * BLOCK_BYTES - size), 0, 2 * BLOCK_BYTES - size, size)
      await file.datasync()
      await syncFolder(dirname(path))
    }
    return file
  } catch (error) {
    await file.close()
    throw error
  }
}

async function settled<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw asClientError(error, 'STORE_FAILED')
  }
}
