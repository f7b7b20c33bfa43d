// Media as the rest of the relay uses it: encrypted blobs that the relay cannot read, in a folder or in an
// S3-compatible store.
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Limits } from '@sotto/protocol'
import type { RequestRates } from '../listener/request-rates.ts'
import type { Clock } from '../operations/clock.ts'
import type { DiskSpace } from '../operations/disk-space.ts'
import type { Log } from '../operations/log.ts'
import { nameInStore } from '../operations/name-in-store.ts'
import type { RandomBytes } from '../operations/random.ts'
import type { Sliced } from '../operations/slices.ts'
import type { Storage } from '../storage/storage.ts'
import type { BlobStore } from './blob-store.ts'
import { MediaBudget } from './budget.ts'
import { openFolderStore } from './folder-store.ts'
import type { LinkKeys } from './links.ts'
import type { MediaConfig } from './media-settings.ts'
import { mediaRoutes } from './routes.ts'
import { S3Requests } from './s3-requests.ts'
import { S3Store } from './s3-store.ts'
import { Sweep } from './sweep.ts'
import { UploadPace } from './upload-pace.ts'
import { WriteQueue } from './write-queue.ts'

export { eraseMedia } from './blobs.ts'
export { budgetOf as mediaBudgetOf, bytesOfMedia } from './budget.ts'

/** Opens the store that blobs are kept in. */
export async function openBlobStore(
  { media, dataDir }: { media: MediaConfig; dataDir: string },
  parts: { storage: Storage; clock: Clock; randomBytes: RandomBytes },
): Promise<BlobStore> {
  if (media.kind === 'folder') return await openFolderStore(mediaFolderOf(media, dataDir))
  const prefix = `${await nameMediaStore(parts)}/`
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  const options = { bucket: media.bucket, prefix, spoolFolder: dataDir }
  return new S3Store(new S3Requests(media, parts.clock), options)
}

/** The folder that media are written to: that of the blobs, or that of the parts on their way to a bucket. */
export function mediaFolderOf(media: MediaConfig, dataDir: string): string {
  return media.kind === 'folder' ? (media.folder ?? join(dataDir, 'media')) : dataDir
}

/** The origin that links to blobs name, if it is not the relay's. */
export function mediaOriginOf(media: MediaConfig): string | undefined {
  if (media.kind === 'folder') return undefined
  const { protocol, host } = media.publicEndpoint
  return `${protocol}//${media.isPathStyle ? host : `${media.bucket}.${host}`}`
}

/** Says where blobs are stored, in a line for the operator. */
export function describeMedia(media: MediaConfig, dataDir: string): string {
  if (media.kind === 'folder') return `Media: ${mediaFolderOf(media, dataDir)}`
  return `Media: bucket ${media.bucket} at ${media.endpoint.origin}`
}

/**
 * Names the store of media, unless it has a name.
 * @returns the prefix of this database's objects in a bucket. With it, a relay with another database in the
 * same bucket does not take them for unknown objects and remove them.
 */
export async function nameMediaStore(parts: { storage: Storage; randomBytes: RandomBytes }): Promise<string> {
  return await nameInStore('media_store', parts)
}

/** Builds media. */
export function createMedia(parts: {
  storage: Storage
  store: BlobStore
  clock: Clock
  randomBytes: RandomBytes
  limits: Limits
  space: DiskSpace
  rates: RequestRates
  log: Log
  linkKeys: { readonly current: LinkKeys }
  /** How many bytes all media may have together. */
  budgetBytes: () => number
  publicUrl: URL | undefined
}) {
  const pace = new UploadPace(parts)
  const whole = { ...parts, pace, queue: new WriteQueue(), budget: new MediaBudget(parts) }
  const sweep = new Sweep(whole)
  return {
    routes: mediaRoutes(whole),
    /**
     * Removes what has expired or is not needed, one batch at a time. @param mayExpire false while the clock
     * is not trusted
     */
    sweep: ({ storage, signal }: Sliced, mayExpire: boolean): Promise<void> =>
      sweep.run(signal, mayExpire, storage),
  }
}
