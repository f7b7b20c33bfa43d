// Restores a backup into an empty data folder.
import { mkdir, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { forgetKeyPackages } from '../key-packages/key-packages.ts'
import { syncFile } from '../media/files.ts'
import { moveSequencesAhead } from '../messages/messages.ts'
import { forgetNameInStore } from '../operations/name-in-store.ts'
import { moveDepositIndexAhead } from '../payments/payments.ts'
import { DATABASE_FILE, lockFolder, openSqlite } from '../storage/sqlite.ts'
import type { Storage } from '../storage/storage.ts'
import { BackupError, backupStep, DamagedFile } from './backup-error.ts'
import type { BackupPlace, Pieces } from './backup-place.ts'
import {
  type Checksums,
  isFileOfBackup,
  namesOfBackups,
  readChecked,
  readChecksums,
  readUndamaged,
} from './checksums.ts'
import { isThere, openDatabaseFile } from './database-copy.ts'
import { type Decryption, ENCRYPTED, isEncrypted } from './encryption.ts'
import { FolderPlace, readFile, writeFile } from './folder-place.ts'
import { type MediaCopied, restoreMedia } from './media-copy.ts'
import { isBucketPath } from './s3-place.ts'

/** More orders than a relay gets between two backups. */
const DEPOSIT_DISTANCE = 1_000_000

/**
 * Moves the counters of all conversations and of deposit addresses ahead, because clients may have seen
 * numbers that are missing from the backup. Deletes all key packages, because they may have been given out
 * since. The relay gets a new incarnation, by which clients learn that it was restored. To be run once after
 * a backup was restored.
 */
export async function moveNumbersAhead(storage: Storage): Promise<void> {
  await forgetNameInStore('incarnation', storage)
  await moveSequencesAhead(storage)
  await forgetKeyPackages(storage)
  await storage.transaction((sql) => moveDepositIndexAhead(sql, DEPOSIT_DISTANCE))
}

/** What can be restored: a backup with its media, or a copy of the database alone. */
export interface Backup {
  /** What the operator calls the file of the database. */
  readonly path: string
  readonly database: () => Pieces
  readonly isEncrypted: boolean
  /** Undefined for a copy of the database alone. */
  readonly files: { readonly place: BackupPlace; readonly sums: Checksums } | undefined
}

/**
 * Finds what to restore.
 * @param from a folder or bucket of backups, whose newest is meant, a file of a backup in it, or a copy of a
 * database
 * @throws BackupError if there is none
 */
export async function findBackup(from: string, open: (folder: string) => BackupPlace): Promise<Backup> {
  const isFolder = isBucketPath(from)
    ? !isFileOfBackup(basename(from))
    : await backupStep(`cannot read ${from}`, async () => (await stat(from)).isDirectory())
  const place = open(isFolder ? from : dirname(from))
  const names = await namesOfBackups(place)
  const name = isFolder ? names.at(-1) : names.find((each) => basename(from).startsWith(`${each}.`))
  if (name !== undefined) return await backupOf(place, name, names)
  if (isFolder || isBucketPath(from)) throw new BackupError(`${from} holds no backup`)
  const isSecret = await isEncrypted(from)
  if (!isSecret) (await openDatabaseFile(from, `${from} is no copy of a relay’s database`)).close()
  return { path: from, database: () => readFile(from), isEncrypted: isSecret, files: undefined }
}

async function backupOf(place: BackupPlace, name: string, names: readonly string[]): Promise<Backup> {
  const sums = await readChecksums(place, name)
  // A blob that was damaged and copied again may be encrypted again. A later list has its checksum.
  for (const later of names.filter((each) => each > name))
    for (const [file, sum] of await readUndamaged(place, later)) if (sums.has(file)) sums.set(file, sum)
  const file = [`${name}.db`, `${name}.db${ENCRYPTED}`].find((each) => sums.has(each)) ?? ''
  return {
    path: place.pathOf(file),
    database: () => readChecked(place, file, sums.get(file) ?? ''),
    isEncrypted: file.endsWith(ENCRYPTED),
    files: { place, sums },
  }
}

/**
 * Restores a backup. The database gets its name last, with its numbers moved ahead; a restore that was cut
 * off can be repeated.
 * @param parts.mediaFolder undefined if media are not in a folder
 * @param parts.decryption needed if the backup is encrypted
 * @param parts.isDamageSkipped whether blobs that are damaged are left out
 * @returns undefined if the backup has no media, or they are not in a folder
 * @throws BackupError if the backup cannot be read, or `dataDir` has a store
 * @throws StorageInUse if a relay runs in `dataDir`, and StorageTooNew if a newer relay made the backup
 */
export async function restoreBackup(parts: {
  backup: Backup
  dataDir: string
  mediaFolder: string | undefined
  decryption: Decryption | undefined
  isDamageSkipped: boolean
}): Promise<MediaCopied | undefined> {
  const { backup, dataDir, mediaFolder, decryption, isDamageSkipped } = parts
  await backupStep(`cannot write ${dataDir}`, () => mkdir(dataDir, { recursive: true, mode: 0o700 }))
  using _lock = lockFolder(dataDir)
  const restored = join(dataDir, DATABASE_FILE)
  if (isThere(restored))
    throw new BackupError(`${dataDir} holds the store of a relay; restore into an empty folder`)
  const folder = join(dataDir, 'restoring')
  const database = join(folder, DATABASE_FILE)
  try {
    return await backupStep(`cannot restore ${backup.path}`, async () => {
      await rm(folder, { recursive: true, force: true })
      await mkdir(folder, { mode: 0o700 })
      const pieces = backup.database()
      await writeFile(database, decryption ? decryption.decrypt(pieces, backup.path) : pieces)
      await checkDatabase(database, backup.path)
      let media: MediaCopied | undefined
      if (backup.files && mediaFolder !== undefined) {
        const { place: from, sums } = backup.files
        const to = new FolderPlace(mediaFolder)
        media = await restoreMedia({ database, from, to, sums, decryption, isDamageSkipped })
        await to.flush()
      }
      const storage = await openSqlite(folder)
      await moveNumbersAhead(storage).finally(() => storage.close())
      await syncFile(database)
      await rename(database, restored)
      await syncFile(dataDir)
      return media
    })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

// A copy of the database alone has no checksum.
async function checkDatabase(file: string, path: string): Promise<void> {
  using database = await openDatabaseFile(file, `${path} is no copy of a relay’s database`)
  using check = database.prepare<{ quick_check: string }, []>('PRAGMA quick_check(1)')
  if (check.get()?.quick_check !== 'ok') throw new DamagedFile(`${path} is damaged`)
}
