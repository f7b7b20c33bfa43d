// The endpoints of media.
import { API_BASE, type MediaKey, ProtocolError } from '@sotto/protocol'
import type { RequestRates } from '../listener/request-rates.ts'
import type { Handlers } from '../listener/route.ts'
import { type DiskSpace, requestRefused } from '../operations/disk-space.ts'
import { isFullDiskError } from '../operations/disks.ts'
import type { Log } from '../operations/log.ts'
import { addressBelow } from '../operations/public-url.ts'
import type { AccountId } from '../storage/storage.ts'
import { BlobStoreError, type StoredBlob } from './blob-store.ts'
import {
  addBlob,
  type BlobRow,
  doomEmptyBlob,
  findAwaitedBlob,
  findStoredBlob,
  findStoredObject,
  getUpload,
  listParts,
  usageOf,
} from './blobs.ts'
import { abortUpload, adopt, completeUpload, type UploadParts } from './completing.ts'
import { createLink, type LinkKeys, type LinkPurpose, type LinkTarget, readLink } from './links.ts'
import { type DownloadCount, serveBlob } from './serving.ts'
import type { UploadPace } from './upload-pace.ts'
import { writePart, writeWhole } from './writing.ts'

/** What the media endpoints are built from. */
export interface MediaParts extends UploadParts {
  readonly log: Log
  readonly space: Pick<DiskSpace, 'checkMedia' | 'holdMedia'>
  readonly rates: Pick<RequestRates, 'take' | 'charge'>
  readonly pace: UploadPace
  readonly linkKeys: { readonly current: LinkKeys }
  readonly publicUrl: URL | undefined
}

type Names =
  | 'initUpload'
  | 'uploadPart'
  | 'getUpload'
  | 'completeUpload'
  | 'abortUpload'
  | 'uploadUrl'
  | 'downloadMedia'
  | 'downloadUrl'
  | 'putMediaLink'
  | 'getMediaLink'
  | 'storageEstimate'

export function mediaRoutes(parts: MediaParts): Handlers<Names> {
  const { storage, store, clock, limits, log, space, rates, pace } = parts
  const seconds = limits.mediaLinkSeconds

  /**
   * Reports a failure of the store as `MEDIA_UNAVAILABLE`, so that it does not count as an internal error of
   * the relay.
   */
  const withStoreErrors = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof BlobStoreError)) throw error
      if (isFullDiskError(error.cause)) throw requestRefused()
      log.error('media_failed', { error })
      throw new ProtocolError('MEDIA_UNAVAILABLE')
    }
  }

  const getBlob = async (key: MediaKey): Promise<StoredBlob> => {
    const found = await findStoredBlob(storage.sql, key)
    if (found) return found
    const awaited = store.direct && (await findAwaitedBlob(storage.sql, { key }))
    // Another request may have adopted it at the same moment.
    const adopted = awaited && ((await adopt(awaited, parts)) ?? (await findStoredBlob(storage.sql, key)))
    if (!adopted) throw new ProtocolError('NOT_FOUND')
    return adopted
  }

  // If the store cannot begin the upload, removes the blob, so that it does not count as an open upload.
  const begin = async (blob: BlobRow): Promise<void> => {
    const handle = await store.begin(blob.object).catch(async (error) => {
      await storage.transaction((sql) => doomEmptyBlob(sql, blob))
      throw error
    })
    if (handle === '') return
    await storage.transaction((sql) => sql`UPDATE media_blobs SET handle = ${handle} WHERE id = ${blob.id}`)
  }

  const ownLink = (purpose: LinkPurpose, target: LinkTarget, host: string): string => {
    const link = createLink(purpose, target, {
      keys: parts.linkKeys.current,
      randomBytes: parts.randomBytes,
      expiresAt: clock.now() + seconds * 1000,
    })
    return addressBelow(parts.publicUrl ?? `http://${host}/`, `${API_BASE}/media/links/${link}`)
  }

  const targetOf = (purpose: LinkPurpose, link: string): LinkTarget => {
    const target = readLink(purpose, link, { keys: parts.linkKeys.current, now: clock.now() })
    if (target === undefined) throw new ProtocolError('NOT_FOUND')
    return target
  }

  const countFor = (account: number): DownloadCount => ({
    take: (bytes) => rates.take('downloadBytes', account, bytes),
    giveBack: (bytes) => rates.charge('downloadBytes', account, -bytes),
  })

  return {
    initUpload: ({ caller }) =>
      withStoreErrors(async () => {
        space.checkMedia(0)
        const { blob, uploadId } = await addBlob(caller.id, { state: 'open' }, parts)
        await begin(blob)
        return { upload_id: uploadId, media_key: blob.media_key }
      }),

    uploadPart: ({ caller, params, query, body }) =>
      withStoreErrors(async () => {
        const { mediaKey, partNumber: number } = query
        const upload = { uploadId: params.upload_id, account: caller.id, mediaKey, number }
        return { etag: await pace.run(caller.id, body, (paced) => writePart(upload, paced, parts)) }
      }),

    getUpload: async ({ caller, params }) => {
      const blob = await getUpload(storage.sql, { uploadId: params.upload_id, account: caller.id })
      if (blob.state === 'stored') throw new ProtocolError('NOT_FOUND')
      const stored = await listParts(storage.sql, blob.id)
      return {
        media_key: blob.media_key,
        parts: stored.map(({ part_number, bytes, etag }) => ({ part_number, size: bytes, etag })),
      }
    },

    completeUpload: ({ caller, params, body }) =>
      withStoreErrors(async () => {
        const { media_key: mediaKey, parts: named } = body
        const upload = { uploadId: params.upload_id, account: caller.id, mediaKey }
        return { media_key: mediaKey, size: await completeUpload(upload, named, parts) }
      }),

    abortUpload: ({ caller, params }) =>
      withStoreErrors(async () => {
        await abortUpload({ uploadId: params.upload_id, account: caller.id }, parts)
        return undefined
      }),

    uploadUrl: ({ caller, body, host }) =>
      withStoreErrors(async () => {
        if ((body.size ?? 0) > limits.mediaBytes) throw new ProtocolError('PAYLOAD_TOO_LARGE')
        space.checkMedia(body.size ?? 0)
        const { blob } = await addBlob(caller.id, { state: 'awaited', exactBytes: body.size }, parts)
        const { object, media_key } = blob
        const answer = { media_key, expires_in: seconds }
        // A link to the store can fix the length or leave it open, but not bound it.
        if (store.direct && body.size !== undefined) {
          return {
            upload_url: await store.direct.linkToWrite(object, { seconds, bytes: body.size }),
            ...answer,
          }
        }
        await begin(blob)
        return { upload_url: ownLink('write', { object, account: caller.id }, host), ...answer }
      }),

    downloadMedia: ({ caller, query, asked }) =>
      withStoreErrors(async () => {
        const blob = await getBlob(query.key)
        return await serveBlob(blob, query.key, { asked, store, count: countFor(caller.id) })
      }),

    downloadUrl: ({ caller, query, host }) =>
      withStoreErrors(async () => {
        const { object, bytes } = await getBlob(query.key)
        if (!store.direct) {
          const download_url = ownLink('read', { object, account: caller.id }, host)
          return { download_url, expires_in: seconds }
        }
        // The relay does not see what is downloaded from the store itself.
        countFor(caller.id).take(bytes)
        return { download_url: await store.direct.linkToRead(object, { seconds }), expires_in: seconds }
      }),

    putMediaLink: ({ params, body }) =>
      withStoreErrors(async () => {
        const { object, account } = targetOf('write', params.link)
        const awaited = await findAwaitedBlob(storage.sql, { object })
        if (!awaited) {
          const stored = await findStoredObject(storage.sql, object)
          throw new ProtocolError(stored ? 'ALREADY_STORED' : 'NOT_FOUND')
        }
        await pace.run(account, body, (paced) => writeWhole(awaited, paced, parts))
        return undefined
      }),

    getMediaLink: ({ params, asked }) =>
      withStoreErrors(async () => {
        const { object, account } = targetOf('read', params.link)
        const blob = await findStoredObject(storage.sql, object)
        if (!blob) throw new ProtocolError('NOT_FOUND')
        return await serveBlob(blob, object, { asked, store, count: countFor(account) })
      }),

    storageEstimate: async ({ caller }) => {
      const { bytes } = await usageOf(storage.sql, caller.id)
      return {
        used_bytes: bytes,
        total_bytes: bytes,
        quota_bytes: limits.mediaAccountBytes,
        message_count: await countPending(caller.id),
      }
    },
  }

  async function countPending(account: AccountId): Promise<number> {
    const [row] = await storage.sql<{ count: number }>`
      SELECT pending_count AS count FROM mailboxes WHERE account_id = ${account}`
    return row?.count ?? 0
  }
}
