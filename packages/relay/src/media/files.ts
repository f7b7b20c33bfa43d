// Steps on files that the folder of blobs is made of. Every one can be repeated after a crash.
import { constants } from 'node:fs'
import { type FileHandle, open, stat, truncate, unlink } from 'node:fs/promises'
import { BlobStoreError } from './blob-store.ts'

/** Reports a failure of the folder as BlobStoreError. */
export async function withFolderErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    if (cause instanceof BlobStoreError) throw cause
    throw new BlobStoreError('the media folder cannot be used', { cause })
  }
}

/** Whether the error says that a file does not exist. */
export function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}

/** A file's size; undefined if it does not exist. */
export async function sizeIfExists(file: string): Promise<number | undefined> {
  try {
    return (await stat(file)).size
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

/** @returns whether the file existed */
export async function unlinkIfExists(file: string): Promise<boolean> {
  try {
    await unlink(file)
    return true
  } catch (error) {
    if (isMissing(error)) return false
    throw error
  }
}

/** Cuts a file that is longer than this. @returns whether the file exists */
export async function cutTo(file: string, bytes: number): Promise<boolean> {
  const size = await sizeIfExists(file)
  if (size !== undefined && size > bytes) await truncate(file, bytes)
  return size !== undefined
}

/** Puts a file or a folder on stable storage. */
export async function syncFile(path: string): Promise<void> {
  const handle = await open(path, constants.O_RDONLY)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Writes all of a piece at a place of a file. */
export async function writePiece(handle: FileHandle, piece: Uint8Array, at: number): Promise<void> {
  for (let done = 0; done < piece.byteLength; ) {
    done += (await handle.write(piece, done, piece.byteLength - done, at + done)).bytesWritten
  }
}
