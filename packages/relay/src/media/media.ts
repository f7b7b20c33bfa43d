// Media as the rest of the relay knows it: blobs nobody here can read, kept in a folder or in an S3-compatible store.
import { join } from 'node:path'
import type { Limits } from '@sotto/protocol'
import type { Clock } from '../operations/clock.ts'
import type { Log } from '../operations/log.ts'
import type { RandomBytes } from '../operations/random.ts'
import type { Storage } from '../storage/storage.ts'
import type { BlobStore } from './blob-store.ts'
import { openFolderStore } from './folder-store.ts'
import type { LinkKeys } from './links.ts'
import type { MediaConfig } from './media-settings.ts'
import { mediaRoutes } from './routes.ts'
import { Sweep } from './sweep.ts'
import { WriteQueue } from './write-queue.ts'

export { eraseMedia } from './blobs.ts'

/** Opens the store that blobs are kept in. */
export function openBlobStore({
  media,
  dataDir,
}: {
  media: MediaConfig
  dataDir: string
}): Promise<BlobStore> {
  return openFolderStore((media.kind === 'folder' && media.folder) || join(dataDir, 'media'))
}

/** Puts media together. */
export function createMedia(parts: {
  storage: Storage
  store: BlobStore
  clock: Clock
  randomBytes: RandomBytes
  limits: Limits
  log: Log
  linkKeys: LinkKeys
  publicUrl: URL | undefined
}) {
  const whole = { ...parts, queue: new WriteQueue() }
  const sweep = new Sweep(whole)
  return {
    routes: mediaRoutes(whole),
    /** One round of what comes round. @param mayExpire false while the clock is not to be believed */
    sweep: (signal: AbortSignal, mayExpire: boolean): Promise<void> => sweep.run(signal, mayExpire),
  }
}
