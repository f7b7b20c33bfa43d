// Makes a backup: a copy of the database, the media that it names, and the list of checksums that completes
// it.
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../operations/clock.ts'
import { DATABASE_FILE, lockFolder } from '../storage/sqlite.ts'
import { backupStep } from './backup-error.ts'
import { type BackupPlace, writeSummed } from './backup-place.ts'
import { namesOfBackups, readUndamaged, writeChecksums } from './checksums.ts'
import { copyDatabase, openDatabase } from './database-copy.ts'
import { ENCRYPTED, type Encryption } from './encryption.ts'
import { FolderPlace, readFile } from './folder-place.ts'
import { backUpMedia, type MediaCopied } from './media-copy.ts'

/** What a backup has made. */
export interface BackupMade {
  /** The file of the database. */
  readonly database: string
  /** Undefined if media are not in a folder. */
  readonly media: MediaCopied | undefined
}

/**
 * Adds a backup to a place. The list of checksums is written last, so a backup that was cut off is none, and
 * leaves the former ones as they were.
 * @param parts.mediaFolder undefined if media are not in a folder
 * @throws BackupError if there is no store, or a file cannot be read or written
 * @throws StorageInUse if another backup of this store is being made
 */
export async function makeBackup(parts: {
  dataDir: string
  mediaFolder: string | undefined
  place: BackupPlace
  encryption: Encryption | undefined
  clock: Clock
}): Promise<BackupMade> {
  const { dataDir, mediaFolder, place, encryption } = parts
  const name = new Date(parts.clock.now()).toISOString().replaceAll(':', '-')
  const former = (await namesOfBackups(place)).at(-1)
  const known = former === undefined ? new Map<string, string>() : await readUndamaged(place, former)
  return await withDatabaseCopy(dataDir, async (copy) => {
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
    return { database: place.pathOf(file), media: media && (await withoutExpired(media, dataDir)) }
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

// A blob that was removed from the store during the backup is not missing.
async function withoutExpired(media: MediaCopied, dataDir: string): Promise<MediaCopied> {
  using database = await openDatabase(dataDir)
  using named = database.prepare("SELECT 1 FROM media_blobs WHERE object = ? AND state = 'stored'")
  return { ...media, missing: media.missing.filter((object) => named.get(object) !== null) }
}
