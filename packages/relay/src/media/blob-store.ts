// What a place that keeps blobs has to do. Which blobs there are, whose, and what they consist of is for the database
// to say: a store is told names, and what the database does not name is nothing but garbage.

/** A part that is there. */
export interface StoredPart {
  readonly part_number: number
  readonly bytes: number
  /** What the store answered when it was written. */
  readonly etag: string
}

/** An upload in parts, as its store knows it. */
export interface UploadPlace {
  readonly object: string
  /** What {@link BlobStore.begin} answered. */
  readonly handle: string
}

/** A blob that can be read. */
export interface StoredBlob {
  readonly object: string
  readonly bytes: number
}

/** Bytes to be kept, held to what was announced: reading them throws where they are too many or too few. */
export interface IncomingBytes {
  readonly pieces: AsyncIterable<Uint8Array>
  /** Undefined where it shows only at their end. */
  readonly length: number | undefined
  /** Given when nobody waits for them to be kept any more: what is under way is to end. */
  readonly ending?: AbortSignal
}

/** Bytes `from` to `to`, both included. */
export interface ByteRange {
  readonly from: number
  readonly to: number
}

/** The store cannot be reached, or has no room: the cause says more. */
export class BlobStoreError extends Error {
  override readonly name = 'BlobStoreError'
}

/** A place that keeps blobs. Every method throws BlobStoreError where the store fails. */
export interface BlobStore {
  /** Gets ready for the parts of an object. @returns the store's own name for that, or `''` */
  begin(object: string): Promise<string>
  /**
   * Writes a part: a crash of this process does not undo it, a power cut may. Where it rejects, nothing of it can be seen.
   * @param part.version names this attempt, as no other ever was
   */
  writePart(
    place: UploadPlace,
    part: { readonly number: number; readonly version: string },
    body: IncomingBytes,
  ): Promise<{ etag: string; bytes: number }>
  /** Removes a part that was written and is not wanted, where that cannot wait for the whole. */
  dropPart(place: UploadPlace, part: { readonly number: number; readonly etag: string }): Promise<void>
  /**
   * Makes the parts, numbered from 1, one object, and resolves once that is on stable storage. Again is as good as once.
   * @param version names this attempt, as no other ever was
   */
  complete(place: UploadPlace, parts: readonly StoredPart[], version: string): Promise<Completion>
  /** The bytes asked for, of an object that was completed. */
  read(
    blob: StoredBlob,
    range: ByteRange,
  ): Promise<Blob | ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer>>
  /** Removes an object with all its parts, whatever state it is in. Again is as good as once. */
  remove(object: string): Promise<void>
  /** Removes what may be left of the parts of an object that was completed. */
  tidy(object: string): Promise<void>
  /** Some of the objects there are. @param after where the page before ended */
  list(after: string | undefined): Promise<ObjectPage>
  /** How clients reach the store themselves; undefined where they cannot. */
  readonly direct?: DirectAccess
}

/** What came of putting parts together: `changed` where they are not the ones the store has, or one is too small for it. */
export type Completion = 'done' | 'changed' | 'too small'

/** Objects, and where the next page begins; undefined: that was the last one. */
export interface ObjectPage {
  readonly objects: readonly { readonly object: string; readonly modifiedAt: number }[]
  readonly next: string | undefined
}

/** Links that lead to the store, and what becomes of what was written by one. */
export interface DirectAccess {
  /** A link to write `object` by one PUT, of exactly `bytes` where given. */
  linkToWrite(object: string, options: { seconds: number; bytes: number | undefined }): Promise<string>
  /** A link to read `object` by. */
  linkToRead(object: string, options: { seconds: number }): Promise<string>
  /**
   * Copies what was written by a link to where no link leads, so that it cannot change any more.
   * @returns its size; undefined where nothing was written; `too large` and not copied where it is more than `mostBytes`
   */
  adopt(from: string, to: string, mostBytes: number): Promise<number | 'too large' | undefined>
}
