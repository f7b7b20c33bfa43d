// What is uploaded, cut into pieces of one size, one of them in memory at a time.
import { ClientError } from '../client-error.ts'

/** What can be uploaded: a file, bytes, or a stream of bytes. A stream can be read once; the others again, for another try. */
export type MediaSource = Blob | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>

/** How many bytes a source has, where that is known before it is read. */
export function sizeOf(source: MediaSource): number | undefined {
  if (source instanceof Blob) return source.size
  return source instanceof Uint8Array ? source.length : undefined
}

/**
 * The pieces of a source: all of `pieceBytes` but the last. One empty piece of an empty source. Each is gone when the next
 * is asked for.
 * @throws ClientError `INVALID_ARGUMENT` where a file cannot be read; what a stream fails with
 */
export function piecesOf(source: MediaSource, pieceBytes: number): AsyncIterable<Uint8Array> {
  if (source instanceof ReadableStream) return piecesOfStream(source, pieceBytes)
  return piecesOfBlob(source instanceof Blob ? source : new Blob([source]), pieceBytes)
}

async function* piecesOfBlob(blob: Blob, pieceBytes: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at === 0 || at < blob.size; at += pieceBytes) {
    const end = Math.min(at + pieceBytes, blob.size)
    const piece = new Uint8Array(await blob.slice(at, end).arrayBuffer().catch(unreadable))
    if (piece.length !== end - at) unreadable(undefined)
    yield piece
    release(piece)
  }
}

function unreadable(cause: unknown): never {
  const message = 'the file could not be read, or was changed meanwhile'
  throw new ClientError('INVALID_ARGUMENT', message, { cause })
}

async function* piecesOfStream(
  stream: ReadableStream<Uint8Array>,
  pieceBytes: number,
): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader()
  const buffer = new Uint8Array(pieceBytes)
  let filled = 0
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      for (let at = 0; at < value.length; ) {
        // Only once more comes: the last piece is full, too, where the size is a multiple.
        if (filled === pieceBytes) {
          yield buffer
          filled = 0
        }
        const taken = value.subarray(at, at + pieceBytes - filled)
        buffer.set(taken, filled)
        filled += taken.length
        at += taken.length
      }
    }
    yield buffer.subarray(0, filled)
  } finally {
    // Whoever fills it hears that no more is wanted. One that has failed has been heard of.
    await reader.cancel().catch(() => {})
  }
}

/** Gives memory back at once that nobody reads any more: collectors let a good many pieces gather before they look. */
export function release(bytes: Uint8Array<ArrayBuffer>): void {
  bytes.buffer.transfer(0)
}
