// The budget of media: how many bytes all accounts' media may have together.

import { requestRefused } from '../operations/disk-space.ts'
import type { Log } from '../operations/log.ts'
import type { Sql } from '../storage/storage.ts'
import type { MediaConfig } from './media-settings.ts'

/** Below this share of the budget, the log may say again that it is used up. */
const CLEARLY = 0.95

export class MediaBudget {
  readonly #budgetBytes: () => number
  readonly #log: Log
  #isUsedUp = false

  constructor(parts: { budgetBytes: () => number; log: Log }) {
    this.#budgetBytes = parts.budgetBytes
    this.#log = parts.log
  }

  /**
   * On PostgreSQL, transactions that run at the same moment do not see each other's bytes.
   * @throws ProtocolError `RELAY_FULL` if all media together would have more bytes than allowed
   */
  async check(sql: Sql, moreBytes: number): Promise<void> {
    const budgetBytes = this.#budgetBytes()
    const mediaBytes = await bytesOfMedia(sql)
    if (mediaBytes + moreBytes <= budgetBytes) {
      if (mediaBytes + moreBytes < budgetBytes * CLEARLY) this.#isUsedUp = false
      return
    }
    if (!this.#isUsedUp) this.#log.warn('media_total_reached', { mediaBytes, setting: 'MEDIA_TOTAL_BYTES' })
    this.#isUsedUp = true
    throw requestRefused()
  }
}

/** The budget in force. @param diskBytes the size of the disk that media are on, if the relay knows it */
export function budgetOf(media: MediaConfig, diskBytes: number | undefined): number {
  if (media.totalBytes !== undefined) return media.totalBytes
  if (media.kind === 's3' || diskBytes === undefined) return Number.POSITIVE_INFINITY
  return Math.floor(diskBytes / 2)
}

/** The bytes of all accounts' media, including objects that are not removed yet. */
export async function bytesOfMedia(sql: Sql): Promise<number> {
  const [total] = await sql<{ bytes: number }>`SELECT bytes FROM media_total`
  return total?.bytes ?? 0
}
