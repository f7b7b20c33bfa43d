// Bytes on their way to a store that is slower than whoever sends them, or wants to know their number beforehand: on disk until
// all are there. The runtime reads a body whether it is asked for or not, so that in memory a hundred parts would fill it.
import { type FileHandle, open, unlink } from 'node:fs/promises'
import { BlobStoreError, type IncomingBytes } from './blob-store.ts'
import { freeNow } from './incoming.ts'

const READ_BYTES = 64 * 1024

/** Bytes whose number is known. */
export type KnownBytes = IncomingBytes & { readonly length: number }

/**
 * Puts bytes into a file and has them used from there. The file has no name any more when the first is written, so that nothing
 * is left of it, however this ends.
 * @param path where no file is
 * @throws BlobStoreError where the disk fails
 */
export async function spooled<T>(
  path: string,
  body: IncomingBytes,
  use: (known: KnownBytes) => Promise<T>,
): Promise<T> {
  const file = await failing(() => openNameless(path))
  try {
    let length = 0
    for await (const piece of body.pieces) {
      await failing(() => file.writeFile(piece))
      length += piece.byteLength
      freeNow(piece)
    }
    return await use({ ...body, pieces: piecesOf(file, length), length })
  } finally {
    await file.close()
  }
}

async function openNameless(path: string): Promise<FileHandle> {
  const file = await open(path, 'wx+', 0o600)
  await unlink(path)
  return file
}

async function* piecesOf(file: FileHandle, length: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < length; ) {
    const piece = new Uint8Array(Math.min(READ_BYTES, length - at))
    const { bytesRead } = await failing(() => file.read(piece, 0, piece.length, at))
    if (bytesRead === 0) throw new BlobStoreError('what was put on disk has become shorter')
    yield piece.subarray(0, bytesRead)
    at += bytesRead
  }
}

async function failing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    throw new BlobStoreError('the data folder cannot be used', { cause })
  }
}
