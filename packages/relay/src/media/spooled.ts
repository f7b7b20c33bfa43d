// Keeps bytes on disk until all have arrived, for a store that is slower than the client or needs to know the
// length in advance. The runtime reads a request's body even if nobody consumes it, so a hundred parts could
// fill the memory.
import { type FileHandle, open, unlink } from 'node:fs/promises'
import { BlobStoreError, type IncomingBytes } from './blob-store.ts'
import { freeNow } from './incoming.ts'

const READ_BYTES = 64 * 1024

/** Bytes of known length, which can be read several times. */
export type KnownBytes = IncomingBytes & { readonly length: number }

/**
 * Writes bytes to a temporary file and passes them to `use` from there. The file is unlinked before the first
 * byte is written, so that nothing of it remains, no matter how this ends.
 * @param path a path that does not exist yet
 * @throws BlobStoreError if the disk fails
 */
export async function spooled<T>(
  path: string,
  body: IncomingBytes,
  use: (known: KnownBytes) => Promise<T>,
): Promise<T> {
  const file = await withStoreErrors(() => openNameless(path))
  try {
    let length = 0
    for await (const piece of body.pieces) {
      await withStoreErrors(() => file.writeFile(piece))
      length += piece.byteLength
      freeNow(piece)
    }
    const pieces = { [Symbol.asyncIterator]: () => piecesOf(file, length) }
    return await use({ ...body, pieces, length })
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
    const { bytesRead } = await withStoreErrors(() => file.read(piece, 0, piece.length, at))
    if (bytesRead === 0) throw new BlobStoreError('a temporary file has become shorter')
    yield piece.subarray(0, bytesRead)
    at += bytesRead
  }
}

async function withStoreErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    throw new BlobStoreError('the data folder cannot be used', { cause })
  }
}
