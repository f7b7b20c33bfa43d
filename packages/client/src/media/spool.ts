// A spool holds a download until it is verified. An application never gets a download that fails.

/** Holds the bytes of one download. */
export interface Spool<T> {
  /** Writes or copies the next bytes. They are invalid once it has resolved. */
  write(bytes: Uint8Array<ArrayBuffer>): Promise<void>
  /** Returns the result, once the download is complete and passed every check. */
  finish(): Promise<T>
  /** Deletes everything written. Called also after a failure of `write` or `finish`. */
  discard(): Promise<void>
}

/** Smaller pieces are combined: a Blob of a few bytes takes much more memory than these bytes. */
const LARGE_BYTES = 256 * 1024

/**
 * Downloads into a Blob. Browsers keep large Blobs on disk, outside of the page, and delete them when they
 * are no longer used, also after a crash. Bun and Node keep them in memory (`intoFile` does not).
 */
export function intoBlob(): Spool<Blob> {
  let pieces: Blob[] = []
  const small = new Uint8Array(LARGE_BYTES)
  let filled = 0
  // One Blob per piece, so that the browser can move it to the disk before the next one arrives.
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
