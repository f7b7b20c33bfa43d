// SHA-256 of what is too large to hold: fed piece by piece. An entry of its own, as only media needs it.
import { sha256 } from '@noble/hashes/sha2.js'
import { type Bytes, checkBytes, concatBytes } from './bytes.ts'

/** A SHA-256 (FIPS 180-4) under way. */
export interface BlobHash {
  /** Takes the next piece, of any size. */
  update(piece: Uint8Array): void
  /** The 32 bytes, once everything was taken; after that nothing can be done with it. */
  digest(): Bytes
}

/** Begins a SHA-256. WebCrypto has none that can be fed. */
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
