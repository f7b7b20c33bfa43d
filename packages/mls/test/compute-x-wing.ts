// X-Wing on its own vectors. It runs in pages, too: it knows no test runner and no files.
import { bytesToHex, hexToBytes } from '@sotto/crypto'
import { XWing, type XWingParts } from '../src/x-wing.ts'

/** One of X-Wing's own vectors, by the draft's names. All are hexadecimal. */
export interface XWingVector {
  readonly seed: string
  readonly eseed: string
  readonly ss: string
  readonly pk: string
  readonly ct: string
}

/** What a reader computes from `seed` and `ct` of a vector, by the draft's names. */
export interface XWingResult {
  readonly pk: string
  readonly ss: string
}

/** The public keys and secrets that X-Wing over these parts makes of vectors. */
export function computeXWing(
  parts: XWingParts,
  vectors: readonly XWingVector[],
): Promise<readonly XWingResult[]> {
  const xWing = new XWing(parts)
  return Promise.all(
    vectors.map(async ({ seed, ct }) => ({
      pk: bytesToHex(await xWing.publicKey(hexToBytes(seed))),
      ss: bytesToHex(await xWing.decapsulate(hexToBytes(seed), hexToBytes(ct))),
    })),
  )
}
