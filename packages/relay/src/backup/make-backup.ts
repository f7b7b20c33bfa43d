// Makes a backup: a copy of the database, the media that it names, and the list of checksums that completes
// it.
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../operations/clock.ts'
import { DATABASE_FILE, lockFolder } from '../storage/sqlite.ts'
import { BackupError, backupStep } from './backup-error.ts'
import { type BackupPlace, writeSummed } from './backup-place.ts'
import { namesOfBackups, readUndamaged, writeChecksums } from './checksums.ts'
import { copyDatabase, openDatabase } from './database-copy.ts'
import { ENCRYPTED, type Encryption } from './encryption.ts'
import { FolderPlace, readFile } from './folder-place.ts'
import { backUpMedia, type MediaCopied } from './media-copy.ts'
import { removeOldBackups } from './old-backups.ts'
import { claimPlace } from './place-owner.ts'

/** What a backup has made. */
export interface BackupMade {
  /** The file of the database. */
  readonly database: string
  /** Undefined if media are not in a folder. */
  readonly media: MediaCopied | undefined
  /** How many old backups were removed. */
  readonly removed: number
}

/**
 * Adds a backup to a place, and then removes old ones if that is asked and no blob is missing. The list of
 * checksums is written last, so a backup that was cut off is none, and leaves the former ones as they were.
 * @param parts.mediaFolder undefined if media are not in a folder
 * @param parts.keepLast how many backups stay; all if undefined
 * @throws BackupError if there is no store, the place is that of another relay, or a file cannot be read,
 * written or removed
 * @throws StorageInUse if another backup of this store is being made
 */
export async function makeBackup(parts: {
  dataDir: string
  mediaFolder: string | undefined
  place: BackupPlace
  encryption: Encryption | undefined
  clock: Clock
  keepLast: number | undefined
}): Promise<BackupMade> {
  const { dataDir, mediaFolder, place, encryption, keepLast } = parts
  const name = new Date(parts.clock.now()).toISOString().replaceAll(':', '-')
  // Another backup of this relay may remove files, so the place is read once that has ended.
  return await withDatabaseCopy(dataDir, async (copy) => {
    await claimPlace(place, copy)
    const former = (await namesOfBackups(place)).at(-1)
    const known = former === undefined ? new Map<string, string>() : await readUndamaged(place, former)
    const file = `${name}.db${encryption ? ENCRYPTED : ''}`
    const pieces = readFile(copy)
    const sums = new Map<string, string>()
    const media =
      mediaFolder === undefined
        ? undefined
        : await backUpMedia({
            ...{ database: copy, from: new FolderPlace(mediaFolder), to: place },
            ...{ encryption, known, sums },
          })
    sums.set(file, await writeSummed(place, file, encryption ? encryption.encrypt(pieces) : pieces))
    await place.flush()
    await writeChecksums(place, name, sums)
    await place.flush()
    const database = place.pathOf(file)
    const copied = media && (await withoutExpired(media, dataDir))
    const mayRemove = keepLast !== undefined && (copied?.missing.length ?? 0) === 0
    const removed = mayRemove ? await removeOld(place, { name, database, keepLast }) : 0
    return { database, media: copied, removed }
  })
}

/**
 * Copies the database to a file of the data folder, which is as well protected as the store, and removes it
 * after the work.
 */
export async function withDatabaseCopy<T>(dataDir: string, work: (copy: string) => Promise<T>): Promise<T> {
  ;(await openDatabase(dataDir)).close() // Nothing is written to a folder that is none of a relay.
  const folder = join(dataDir, 'backup')
  const lock = await backupStep(`cannot write ${folder}`, async () => {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    return lockFolder(folder, 'backup')
  })
  try {
    const copy = join(folder, DATABASE_FILE)
    await backupStep(`cannot write ${copy}`, () => rm(copy, { force: true }))
    await copyDatabase(dataDir, copy)
    return await work(copy)
  } finally {
    await rm(folder, { recursive: true, force: true })
    lock.close()
  }
}

async function removeOld(
  place: BackupPlace,
  { name, database, keepLast }: { name: string; database: string; keepLast: number },
): Promise<number> {
  try {
    return await removeOldBackups(place, name, keepLast)
  } catch (error) {
    if (!(error instanceof BackupError)) throw error
    const message = `the backup ${database} is made, but not all old ones were removed: ${error.message}`
    throw new BackupError(message, { cause: error })
  }
}

// A blob that was removed from the store during the backup is not missing.
async function withoutExpired(media: MediaCopied, dataDir: string): Promise<MediaCopied> {
  using database = await openDatabase(dataDir)
  using named = database.prepare("SELECT 1 FROM media_blobs WHERE object = ? AND state = 'stored'")
  return { ...media, missing: media.missing.filter((object) => named.get(object) !== null) }
}
