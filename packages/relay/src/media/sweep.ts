// What comes round: uploads nobody completed, blobs at the end of their life, objects that nothing names. An object is removed
// only after the database has forgotten it; whatever a row names stays.
import type { Log } from '../operations/log.ts'
import { type BlobRow, doomBlob, doomObject, isStill } from './blobs.ts'
import { adopt, removeDoomed, type UploadParts } from './completing.ts'
import { endDeadWrites } from './writing.ts'

/** What one round looks at before the next goes on there: its cost does not grow with the store. */
const A_ROUND = 500
/** After so many objects that cannot be removed, the store is taken to be away. */
const MOST_FAILURES = 3
/** A stranger this young may be about to be named. */
const STRANGER_MS = 3_600_000

/** Keeps the store and the database at one. */
export class Sweep {
  readonly #parts: UploadParts & { readonly log: Log }
  /** Where the last look at what is in the store ended. */
  #seenTo: string | undefined

  constructor(parts: UploadParts & { readonly log: Log }) {
    this.#parts = parts
  }

  /** One round. @param mayExpire false while the clock is not to be believed */
  async run(signal: AbortSignal, mayExpire: boolean): Promise<void> {
    if (mayExpire) {
      await endDeadWrites(this.#parts)
      await this.#endLinks(signal)
      await this.#expire(signal)
    }
    await this.#removeDoomed(signal)
    if (mayExpire) await this.#findStrangers(signal)
  }

  // A link's time is up: what was written by it becomes readable, or its room is free again.
  async #endLinks(signal: AbortSignal): Promise<void> {
    const { storage } = this.#parts
    const ended = await this.#ended('awaited')
    for (const blob of ended) {
      if (signal.aborted) return
      if (await adopt(blob, this.#parts)) continue
      await storage.transaction(async (sql) => {
        const [row] = await sql<{ count: number }>`
          SELECT COUNT(*) AS count FROM media_writes WHERE blob = ${blob.id}`
        if (row?.count === 0 && (await isStill(sql, blob, 'awaited'))) await doomBlob(sql, blob)
      })
    }
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
      SELECT object FROM media_doomed ORDER BY object LIMIT ${A_ROUND}`
    let failures = 0
    for (const { object } of doomed) {
      if (signal.aborted) return
      await removeDoomed(object, this.#parts).catch((error) => {
        // One that cannot be removed must not keep the others; a store that is away must not keep this round.
        failures += 1
        if (failures === MOST_FAILURES) throw error
        this.#parts.log.error('media_failed', { error })
      })
    }
  }

  // After a crash, or after an older copy of the database was put back, the store may hold what no row names.
  async #findStrangers(signal: AbortSignal): Promise<void> {
    const { storage, store, clock, log } = this.#parts
    const { objects, next } = await store.list(this.#seenTo)
    this.#seenTo = next
    let strangers = 0
    for (const { object, modifiedAt } of objects) {
      if (signal.aborted) return
      if (modifiedAt > clock.now() - STRANGER_MS) continue
      const [blob] = await storage.sql<BlobRow>`
        SELECT id, media_key, state, object, handle, bytes, exact_bytes FROM media_blobs WHERE object = ${object}`
      if (blob?.state === 'stored') await store.tidy(object)
      if (blob) continue
      await storage.transaction((sql) => doomObject(sql, object))
      strangers += 1
    }
    if (strangers > 0) log.info('media_strangers', { count: strangers })
  }

  async #ended(state: BlobRow['state']): Promise<BlobRow[]> {
    const { storage, clock } = this.#parts
    return await storage.sql<BlobRow>`
      SELECT id, media_key, state, object, handle, bytes, exact_bytes FROM media_blobs
      WHERE state = ${state} AND expires_at <= ${clock.now()} ORDER BY expires_at LIMIT ${A_ROUND}`
  }
}
