// The periodic sweep of media: removes abandoned uploads, expired blobs, and objects that the database does
// not name. An object is removed only after its row was deleted; an object that a row names stays.
import type { Log } from '../operations/log.ts'
import { workThrough } from '../operations/work-through.ts'
import { type BlobRow, doomBlob, doomObject, lockInState } from './blobs.ts'
import { adopt, removeDoomed, type UploadParts } from './completing.ts'
import { endDeadWrite, findDeadWrites } from './writing.ts'

/**
 * How many items one pass handles before the next pass continues. So its cost does not grow with the store.
 */
const MOST_PER_PASS = 500
/** Unknown objects younger than this stay: a row may be about to name them. */
const UNKNOWN_OBJECT_MS = 3_600_000

/** Removes from the store and from the database what is no longer needed. */
export class Sweep {
  readonly #shared: UploadParts & { readonly log: Log }
  /** With the store of the present pass. */
  #parts: UploadParts & { readonly log: Log }
  /** Where the last listing of the store ended. */
  #listedTo: string | undefined
  /**
   * The items at which the last pass stopped because the store failed. The next pass continues after them.
   */
  #failedLink: BlobRow | undefined
  #failedRemoval: { readonly object: string } | undefined

  constructor(parts: UploadParts & { readonly log: Log }) {
    this.#shared = parts
    this.#parts = parts
  }

  /** One pass. @param mayExpire false while the clock is not trusted */
  async run(signal: AbortSignal, mayExpire: boolean, storage = this.#shared.storage): Promise<void> {
    this.#parts = { ...this.#shared, storage }
    if (mayExpire) {
      await this.#each(await findDeadWrites(this.#parts), signal, (write) => endDeadWrite(write, this.#parts))
      await this.#expire(signal)
      await this.#endLinks(signal)
      if (this.#failedLink) return // The store probably cannot be reached.
    }
    await this.#removeDoomed(signal, mayExpire ? this.#parts.clock.now() : 0)
    if (mayExpire && !this.#failedRemoval) await this.#removeUnknownObjects(signal)
  }

  async #each<T>(
    things: Iterable<T>,
    signal: AbortSignal,
    work: (thing: T) => Promise<unknown>,
  ): Promise<T | undefined> {
    const onFailure = (error: unknown): void => this.#parts.log.error('media_failed', { error })
    return await workThrough(things, work, { onFailure, signal })
  }

  // Links have expired: makes what was written through them readable, or releases their room.
  async #endLinks(signal: AbortSignal): Promise<void> {
    const { storage, clock } = this.#parts
    const ended = await storage.sql<BlobRow>`
      SELECT id, media_key, state, object, handle, bytes, exact_bytes FROM media_blobs
      WHERE state = 'awaited' AND expires_at <= ${clock.now()} AND id > ${this.#failedLink?.id ?? 0}
      ORDER BY id LIMIT ${MOST_PER_PASS}`
    this.#failedLink = await this.#each(ended, signal, async (blob) => {
      if (await adopt(blob, this.#parts)) return
      await storage.transaction(async (sql) => {
        const [row] = await sql<{ count: number }>`
          SELECT COUNT(*) AS count FROM media_writes WHERE blob = ${blob.id}`
        if (row?.count === 0 && (await lockInState(sql, blob, 'awaited'))) await doomBlob(sql, blob)
      })
    })
  }

  async #expire(signal: AbortSignal): Promise<void> {
    for (const state of ['open', 'completing', 'stored'] as const) {
      for (const blob of await this.#findExpired(state)) {
        if (signal.aborted) return
        await this.#parts.storage.transaction(async (sql) => {
          if (await lockInState(sql, blob, state)) await doomBlob(sql, blob)
        })
      }
    }
  }

  async #removeDoomed(signal: AbortSignal, dueUntil: number): Promise<void> {
    const doomed = await this.#parts.storage.sql<{ object: string }>`
      SELECT object FROM media_doomed
      WHERE object > ${this.#failedRemoval?.object ?? ''} AND due_at <= ${dueUntil}
      ORDER BY object LIMIT ${MOST_PER_PASS}`
    this.#failedRemoval = await this.#each(doomed, signal, ({ object }) => removeDoomed(object, this.#parts))
  }

  // After a crash or a restored backup of the database, the store may hold objects that no row names.
  async #removeUnknownObjects(signal: AbortSignal): Promise<void> {
    const { storage, store, clock, log } = this.#parts
    const { objects, next } = await store.list(this.#listedTo)
    this.#listedTo = next
    let unknown = 0
    await this.#each(objects, signal, async ({ object, modifiedAt }) => {
      if (modifiedAt > clock.now() - UNKNOWN_OBJECT_MS) return
      const [blob] = await storage.sql<BlobRow>`
        SELECT id, media_key, state, object, handle, bytes, exact_bytes FROM media_blobs WHERE object = ${object}`
      if (blob?.state === 'stored') await store.tidy({ object, bytes: blob.bytes })
      if (blob) return
      await storage.transaction((sql) => doomObject(sql, object))
      unknown += 1
    })
    if (unknown > 0) log.info('media_strangers', { count: unknown })
  }

  async #findExpired(state: BlobRow['state']): Promise<BlobRow[]> {
    const { storage, clock } = this.#parts
    return await storage.sql<BlobRow>`
      SELECT id, media_key, state, object, handle, bytes, exact_bytes FROM media_blobs
      WHERE state = ${state} AND expires_at <= ${clock.now()} ORDER BY expires_at LIMIT ${MOST_PER_PASS}`
  }
}
