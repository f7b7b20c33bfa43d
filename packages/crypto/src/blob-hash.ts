// Streaming SHA-256, for blobs too large for memory. A separate entry, because only media needs it.
import { sha256 } from '@noble/hashes/sha2.js'
import { type Bytes, checkBytes, concatBytes } from './bytes.ts'

/** A streaming SHA-256 (FIPS 180-4). */
export interface BlobHash {
  /** Adds the next piece, of any size. */
  update(piece: Uint8Array): void
  /** Returns the 32 bytes. After that, the hash cannot be used any more. */
  digest(): Bytes
}

/** Begins a SHA-256. WebCrypto has no streaming hash. */
export function createBlobHash(): BlobHash {
  const hash = sha256.create()
  return {
    update: (piece) => {
      checkBytes(piece, 'piece')
      hash.update(piece)
    },
    digest: () => concatBytes(hash.digest()),
  }
}
