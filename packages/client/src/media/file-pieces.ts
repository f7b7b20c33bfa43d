// Encrypts a source under a key of its own before it is uploaded, for conversations with forward secrecy.
import { FILE_CHUNK_BYTES, planFile, releaseBytes, sealFileChunk } from '@sotto/crypto'
import type { SealedPiece } from './sealed.ts'
import type { Transfer } from './transfer.ts'

interface SizedChunk {
  readonly plaintext: Uint8Array
  /** A size of the file with which this chunk is sealed as with the right one. */
  readonly sizeBytes: number
}

/**
 * Encrypts pieces of 5 MiB, of which only the last may be shorter, and then the padding that needs chunks of
 * its own.
 * @param totalBytes undefined if it is not known before the end
 */
export async function* filePieces(
  transfer: Transfer,
  fileKey: Uint8Array,
  pieces: AsyncIterable<Uint8Array>,
  totalBytes: number | undefined,
): AsyncGenerator<SealedPiece> {
  let [index, doneBytes] = [0, 0]
  const seal = async ({ plaintext, sizeBytes }: SizedChunk): Promise<SealedPiece> => {
    // Asks for the key of the conversation although it is not used: without it, nothing more is sent.
    const chunk = await transfer.withKey(() => sealFileChunk({ key: fileKey, sizeBytes, index, plaintext }))
    return { chunk, sourceBytes: plaintext.length }
  }
  for await (const sized of totalBytes === undefined ? looksAhead(pieces) : withSize(pieces, totalBytes)) {
    const piece = await seal(sized)
    yield piece
    releaseBytes(piece.chunk)
    index += 1
    doneBytes += piece.sourceBytes
    transfer.progress(doneBytes, totalBytes)
  }
  for (; index < planFile(doneBytes).chunks; index += 1)
    yield await seal({ plaintext: new Uint8Array(), sizeBytes: doneBytes })
}

async function* withSize(pieces: AsyncIterable<Uint8Array>, sizeBytes: number): AsyncGenerator<SizedChunk> {
  for await (const plaintext of pieces) yield { plaintext, sizeBytes }
}

/** Whether a piece is the last decides how it is sealed: each waits, copied, for the one after it. */
async function* looksAhead(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<SizedChunk> {
  let waiting: Uint8Array<ArrayBuffer> | undefined
  let before = 0
  for await (const piece of pieces) {
    if (waiting) {
      before += FILE_CHUNK_BYTES
      yield { plaintext: waiting, sizeBytes: before + FILE_CHUNK_BYTES }
      releaseBytes(waiting)
    }
    waiting = new Uint8Array(piece)
  }
  if (waiting) yield { plaintext: waiting, sizeBytes: before + waiting.length }
}
