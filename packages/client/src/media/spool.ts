// Where a download lies until it is known to be what its sender stored: nobody sees it before, and nobody after if it is not.

/** Holds what is downloaded; made for one download. */
export interface Spool<T> {
  /** Takes the next bytes, which are gone once it resolves: then it has written or copied them. */
  write(bytes: Uint8Array<ArrayBuffer>): Promise<void>
  /** Gives out what was written: it has been proven, or nothing spoke against it. */
  finish(): Promise<T>
  /** Throws away what was written. Called after a failure of `write` and `finish`, too. */
  discard(): Promise<void>
}

/** Smaller pieces are put together: a Blob takes much more memory than a few bytes. */
const LARGE_BYTES = 256 * 1024

/**
 * Holds a download as a Blob. Browsers keep large ones on disk, outside of the page, and remove them when nobody holds them
 * any more, after a crash too; Bun and Node keep them in memory (`intoFile` does not).
 */
export function intoBlob(): Spool<Blob> {
  let pieces: Blob[] = []
  const small = new Uint8Array(LARGE_BYTES)
  let filled = 0
  // Each by itself, so that the browser can put it away before the next comes.
  const put = (bytes: Uint8Array<ArrayBuffer>): void => {
    if (bytes.length > 0) pieces.push(new Blob([bytes]))
  }
  const putSmall = (): void => {
    put(small.subarray(0, filled))
    filled = 0
  }
  return {
    async write(bytes) {
      if (filled + bytes.length > LARGE_BYTES) putSmall()
      if (bytes.length > LARGE_BYTES) return put(bytes)
      small.set(bytes, filled)
      filled += bytes.length
    },
    async finish() {
      putSmall()
      return new Blob(pieces)
    },
    async discard() {
      pieces = []
    },
  }
}
