// The interface of a store for blobs. The database knows which blobs exist, who owns them and which parts
// they have. The store only knows object names; an object that the database does not name is garbage.

/** A part that is stored. */
export interface StoredPart {
  readonly part_number: number
  readonly bytes: number
  /** The etag that the store returned when the part was written. */
  readonly etag: string
}

/** An upload in parts, as the store knows it. */
export interface UploadPlace {
  readonly object: string
  /** What {@link BlobStore.begin} returned. */
  readonly handle: string
}

/** A completed blob, which can be read. */
export interface StoredBlob {
  readonly object: string
  readonly bytes: number
}

/** Bytes to store. Reading them throws if there are more or fewer than announced. */
export interface IncomingBytes {
  readonly pieces: AsyncIterable<Uint8Array>
  /** Undefined if it is only known after the last byte. */
  readonly length: number | undefined
  /** Aborted when nobody waits for the write any more; the store then stops writing. */
  readonly ending?: AbortSignal
}

/** Bytes `from` to `to`, both included. */
export interface ByteRange {
  readonly from: number
  readonly to: number
}

/** The store cannot be reached, has no room, or fails otherwise. `cause` holds the details. */
export class BlobStoreError extends Error {
  override readonly name = 'BlobStoreError'
}

/** A part was not written, but the store may hold its bytes until the upload ends. `cause` says why. */
export class PartLeftOver extends Error {
  override readonly name = 'PartLeftOver'

  constructor(cause: unknown) {
    super('the store may hold bytes of a part that was not written', { cause })
  }
}

/** A store for blobs. Every method throws BlobStoreError if the store fails. */
export interface BlobStore {
  /** Prepares the store for the parts of an object. @returns the store's own id of the upload, or `''` */
  begin(object: string): Promise<string>
  /**
   * Writes a part. The part survives a crash of this process, but maybe not a power cut.
   * @param part.version a unique name of this attempt
   * @throws PartLeftOver if the store may hold some of it; after any other error it holds none
   */
  writePart(
    place: UploadPlace,
    part: { readonly number: number; readonly version: string },
    body: IncomingBytes,
  ): Promise<{ etag: string; bytes: number }>
  /**
   * Removes a part that a later attempt has replaced, or that came too late.
   * @returns false if the store may hold its bytes until the upload ends
   */
  dropPart(place: UploadPlace, part: { readonly number: number; readonly etag: string }): Promise<boolean>
  /**
   * Removes what is left of an attempt whose process no longer runs.
   * @returns false if the store may hold its bytes until the upload ends
   */
  dropAttempt(
    place: UploadPlace,
    attempt: { readonly number: number; readonly version: string },
  ): Promise<boolean>
  /**
   * Joins the parts, numbered from 1, into one object that holds nothing else, and resolves once it is on
   * stable storage. Repeating it gives the same result.
   * @param mayHoldMore whether the store may hold parts that are not among these
   */
  complete(place: UploadPlace, parts: readonly StoredPart[], mayHoldMore?: boolean): Promise<Completion>
  /** The requested bytes of a completed object. */
  read(
    blob: StoredBlob,
    range: ByteRange,
  ): Promise<Blob | ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer>>
  /** Removes an object and all its parts, in any state of the upload. May be repeated. */
  remove(object: string): Promise<void>
  /** Removes what is left of the upload of a completed blob. */
  tidy(blob: StoredBlob): Promise<void>
  /** Lists the objects in batches. @param after the `next` of the previous batch */
  list(after: string | undefined): Promise<ObjectBatch>
  /** How clients access the store directly; undefined if the store does not support that. */
  readonly direct?: DirectAccess
}

/**
 * The result of joining parts: `changed` if the store does not have exactly these parts, `too small` if one
 * is smaller than the store accepts.
 */
export type Completion = 'done' | 'changed' | 'too small'

/** Objects, and where the next batch begins; undefined if this was the last one. */
export interface ObjectBatch {
  readonly objects: readonly { readonly object: string; readonly modifiedAt: number }[]
  readonly next: string | undefined
}

/** Links that lead to the store itself, and adopting what clients wrote through them. */
export interface DirectAccess {
  /** A link to write `object` with one PUT, of exactly `bytes` bytes. */
  linkToWrite(object: string, options: { seconds: number; bytes: number }): Promise<string>
  /** A link to read `object`. */
  linkToRead(object: string, options: { seconds: number }): Promise<string>
  /** What was written through a link; undefined if nothing was. */
  find(object: string): Promise<WrittenObject | undefined>
  /**
   * Copies what was written through a link to a name that no link leads to, so that it cannot change any
   * more.
   * @returns false, without a copy, if it has changed since it was found
   */
  copy(from: WrittenObject, to: string): Promise<boolean>
}

/** One version of an object. */
export interface WrittenObject {
  readonly object: string
  readonly bytes: number
  readonly etag: string
}
