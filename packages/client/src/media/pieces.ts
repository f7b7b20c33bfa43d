// Cuts an upload into pieces of equal size, with one piece in memory at a time.
import { releaseBytes } from '@sotto/crypto'
import { ClientError } from '../client-error.ts'

/**
 * What can be uploaded: a file, bytes, or a stream of bytes. A stream can be read only once, so it is not
 * retried.
 */
export type MediaSource = Blob | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>

/**
 * Checks what an application passes. A Blob made of anything else would contain it as a text.
 * @throws ClientError `INVALID_ARGUMENT` if it is no source
 */
export function checkSource(source: unknown): void {
  if ([Blob, Uint8Array, ReadableStream].some((kind) => source instanceof kind)) return
  throw new ClientError('INVALID_ARGUMENT', 'media are a Blob, a Uint8Array or a ReadableStream of bytes')
}

/** The size of a source in bytes; undefined for a stream. */
export function sizeOf(source: MediaSource): number | undefined {
  if (source instanceof Blob) return source.size
  return source instanceof Uint8Array ? source.length : undefined
}

/**
 * The pieces of a source, each of `pieceBytes` except the last. An empty source has one empty piece. A piece
 * is valid only until the next one is read.
 * @throws ClientError `INVALID_ARGUMENT` if a file cannot be read; the error of a stream that fails
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
    releaseBytes(piece)
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
        // A full buffer is only yielded once more bytes arrive: the last piece may be full, too.
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
    // Tells the source of the stream to stop. The error of a failed stream was already thrown.
    await reader.cancel().catch(() => {})
  }
}
