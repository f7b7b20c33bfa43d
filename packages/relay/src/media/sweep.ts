// What comes round: uploads nobody completed, blobs at the end of their life, objects that nothing names. An object is removed
// only after the database has forgotten it; whatever a row names stays.
import type { Log } from '../operations/log.ts'
import { workThrough } from '../operations/work-through.ts'
import { type BlobRow, doomBlob, doomObject, isStill } from './blobs.ts'
import { adopt, removeDoomed, type UploadParts } from './completing.ts'
import { endDeadWrite, findDeadWrites } from './writing.ts'

/** What one round looks at before the next goes on there: its cost does not grow with the store. */
const A_ROUND = 500
/** A stranger this young may be about to be named. */
const STRANGER_MS = 3_600_000

/** Keeps the store and the database at one. */
export class Sweep {
  readonly #parts: UploadParts & { readonly log: Log }
  /** Where the last look at what is in the store ended. */
  #seenTo: string | undefined
  /** Where the last round gave up, since the store failed at it: the next goes on behind that. */
  #linkGivenUp: BlobRow | undefined
  #doomedGivenUp: { readonly object: string } | undefined

  constructor(parts: UploadParts & { readonly log: Log }) {
    this.#parts = parts
  }

  /** One round. @param mayExpire false while the clock is not to be believed */
  async run(signal: AbortSignal, mayExpire: boolean): Promise<void> {
    if (mayExpire) {
      await this.#each(await findDeadWrites(this.#parts), signal, (write) => endDeadWrite(write, this.#parts))
      await this.#expire(signal)
      await this.#endLinks(signal)
      if (this.#linkGivenUp) return // The store seems to be away.
    }
    await this.#removeDoomed(signal)
    if (mayExpire && !this.#doomedGivenUp) await this.#findStrangers(signal)
  }

  async #each<T>(
    things: Iterable<T>,
    signal: AbortSignal,
    work: (thing: T) => Promise<unknown>,
  ): Promise<T | undefined> {
    const onFailure = (error: unknown): void => this.#parts.log.error('media_failed', { error })
    return await workThrough(things, work, { onFailure, signal })
  }

  // A link's time is up: what was written by it becomes readable, or its room is free again.
  async #endLinks(signal: AbortSignal): Promise<void> {
    const { storage, clock } = this.#parts
    const ended = await storage.sql<BlobRow>`
      SELECT id, media_key, state, object, handle, bytes, exact_bytes FROM media_blobs
      WHERE state = 'awaited' AND expires_at <= ${clock.now()} AND id > ${this.#linkGivenUp?.id ?? 0}
      ORDER BY id LIMIT ${A_ROUND}`
    this.#linkGivenUp = await this.#each(ended, signal, async (blob) => {
      if (await adopt(blob, this.#parts)) return
      await storage.transaction(async (sql) => {
        const [row] = await sql<{ count: number }>`
          SELECT COUNT(*) AS count FROM media_writes WHERE blob = ${blob.id}`
        if (row?.count === 0 && (await isStill(sql, blob, 'awaited'))) await doomBlob(sql, blob)
      })
    })
  }

  async #expire(signal: AbortSignal): Promise<void> {
    for (const state of ['open', 'completing', 'stored'] as const) {
      for (const blob of await this.#ended(state)) {
        if (signal.aborted) return
        await this.#parts.storage.transaction(async (sql) => {
          if (await isStill(sql, blob, state)) await doomBlob(sql, blob)
        })
      }
    }
  }

  async #removeDoomed(signal: AbortSignal): Promise<void> {
    const doomed = await this.#parts.storage.sql<{ object: string }>`
      SELECT object FROM media_doomed WHERE object > ${this.#doomedGivenUp?.object ?? ''} ORDER BY object LIMIT ${A_ROUND}`
    this.#doomedGivenUp = await this.#each(doomed, signal, ({ object }) => removeDoomed(object, this.#parts))
  }

  // After a crash, or after an older copy of the database was put back, the store may hold what no row names.
  async #findStrangers(signal: AbortSignal): Promise<void> {
    const { storage, store, clock, log } = this.#parts
    const { objects, next } = await store.list(this.#seenTo)
    this.#seenTo = next
    let strangers = 0
    await this.#each(objects, signal, async ({ object, modifiedAt }) => {
      if (modifiedAt > clock.now() - STRANGER_MS) return
      const [blob] = await storage.sql<BlobRow>`
        SELECT id, media_key, state, object, handle, bytes, exact_bytes FROM media_blobs WHERE object = ${object}`
      if (blob?.state === 'stored') await store.tidy(object)
      if (blob) return
      await storage.transaction((sql) => doomObject(sql, object))
      strangers += 1
    })
    if (strangers > 0) log.info('media_strangers', { count: strangers })
  }

  async #ended(state: BlobRow['state']): Promise<BlobRow[]> {
    const { storage, clock } = this.#parts
    return await storage.sql<BlobRow>`
      SELECT id, media_key, state, object, handle, bytes, exact_bytes FROM media_blobs
      WHERE state = ${state} AND expires_at <= ${clock.now()} ORDER BY expires_at LIMIT ${A_ROUND}`
  }
}
