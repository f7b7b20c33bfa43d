// What an operator's commands for backups do, and what they tell the operator.
import { stat } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { BackupError, backupStep } from './backup/backup-error.ts'
import type { BackupPlace } from './backup/backup-place.ts'
import { type Checked, checkBackups } from './backup/check-backups.ts'
import { copyDatabase, isThere, openDatabase } from './backup/database-copy.ts'
import { decryptWith, type Encryption, encryptTo } from './backup/encryption.ts'
import { FolderPlace, readFile } from './backup/folder-place.ts'
import { makeBackup, withDatabaseCopy } from './backup/make-backup.ts'
import type { MediaCopied } from './backup/media-copy.ts'
import { findBackup, restoreBackup } from './backup/restore.ts'
import { isBucketPath, S3Place } from './backup/s3-place.ts'
import type { Config } from './config.ts'
import { mediaFolderOf } from './media/media.ts'
import { systemClock as clock } from './operations/clock.ts'
import { configOf, explained, OperatorError } from './operator.ts'

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Copies the embedded database into a file that must not exist yet, encrypted if BACKUP_KEY is set. A relay
 * may run at the same time.
 * @throws OperatorError if there is no embedded database, the file exists, or it cannot be written
 */
export async function backUp(environment: Environment, file: string): Promise<string> {
  const config = configOf(environment)
  refusePostgres(config, 'back up PostgreSQL with its own pg_dump')
  const encryption = await explaining(config, () => encryptionOf(config))
  await explaining(config, () =>
    encryption ? copyEncrypted(config.dataDir, file, encryption) : copyDatabase(config.dataDir, file),
  )
  return `Backed up the database to ${file}, without media. "sotto restore --from ${file}" restores it.`
}

/**
 * Adds a backup of the embedded database and of the folder of media to a folder or a bucket, encrypted if
 * BACKUP_KEY is set. A relay may run at the same time.
 * @param keepLast how many backups stay in the folder; all if undefined
 * @throws OperatorError if there is no embedded database, the folder cannot be written, or blobs are missing
 */
export async function backUpAll(
  environment: Environment,
  folder: string,
  keepLast?: number,
): Promise<string> {
  const config = configOf(environment)
  refusePostgres(config, 'back up PostgreSQL with its own pg_dump')
  const { dataDir } = config
  const mediaFolder = blobFolderOf(config)
  const encryption = await explaining(config, async () => encryptionOf(config))
  const { database, media, removed } = await explaining(config, async () => {
    ;(await openDatabase(dataDir)).close() // A wrong DATA_DIR makes no folder.
    using place = isBucketPath(folder)
      ? new S3Place(folder, config.backup.bucket)
      : await FolderPlace.openToWrite(folder)
    return await makeBackup({ dataDir, mediaFolder, place, encryption, clock, keepLast })
  })
  checkComplete(media, `the backup ${database} is made`, mediaFolder)
  const old = keepLast === undefined ? '' : ` Old backups removed: ${removed}.`
  const how = encryption ? '' : ', not encrypted'
  return `Backed up to ${database}${how}. ${describe(media)}${old}`
}

/**
 * Reads every file of the backups in a folder or a bucket and compares it with its checksum.
 * @throws OperatorError if there is no backup, or it cannot be read
 */
export async function checkAll(environment: Environment, folder: string): Promise<Checked> {
  const config = configOf(environment)
  return await explaining(config, async () => {
    const checked = await checkBackups(openPlace(folder, config))
    if (checked.backups === 0) throw new BackupError(`${folder} holds no backup`)
    return checked
  })
}

/**
 * Restores a backup into an empty data folder, with all numbers moved ahead.
 * @param how.from a folder or bucket of backups, whose newest is restored, a file of a backup, or a copy of a
 * database
 * @param how.identity the file with the secret key, if the backup is encrypted
 * @param how.isDamageSkipped whether blobs that are damaged are left out
 * @throws OperatorError if it cannot be restored, or blobs are missing
 */
export async function restore(
  environment: Environment,
  how: { from: string; identity: string | undefined; isDamageSkipped: boolean },
): Promise<string> {
  const { from, identity, isDamageSkipped } = how
  const config = configOf(environment)
  refusePostgres(config, 'restore PostgreSQL with its own pg_restore, then run sotto after-restore')
  const { dataDir } = config
  const { path, media } = await explaining(config, async () => {
    const backup = await findBackup(from, (folder) => openPlace(folder, config))
    const { path } = backup
    if (backup.isEncrypted && identity === undefined)
      throw new BackupError(`${path} is encrypted; name the file of its secret key with --identity`)
    const decryption = backup.isEncrypted && identity !== undefined ? await decryptWith(identity) : undefined
    const mediaFolder = blobFolderOf(config)
    return { path, media: await restoreBackup({ backup, dataDir, mediaFolder, decryption, isDamageSkipped }) }
  })
  checkComplete(media, `${path} is restored to ${dataDir}`, 'the backup')
  return `Restored ${path} to ${dataDir}. ${describe(media)} The relay can be started.`
}

function openPlace(path: string, { backup }: Config): BackupPlace {
  return isBucketPath(path) ? new S3Place(path, backup.bucket) : new FolderPlace(path)
}

function encryptionOf({ backup }: Config): Promise<Encryption> | undefined {
  return backup.keys.length > 0 ? encryptTo(backup.keys) : undefined
}

async function copyEncrypted(dataDir: string, file: string, encryption: Encryption): Promise<void> {
  const folder = dirname(file)
  await backupStep(`cannot write ${file}`, async () => {
    await stat(folder)
    if (isThere(file)) throw new BackupError(`${file} exists already; choose another file`)
  })
  await withDatabaseCopy(dataDir, async (copy) => {
    const place = new FolderPlace(folder)
    await place.write(basename(file), encryption.encrypt(readFile(copy)))
    await place.flush()
  })
}

async function explaining<T>(config: Config, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw explained(error, config)
  }
}

function refusePostgres({ databaseUrl }: Config, advice: string): void {
  if (databaseUrl) throw new OperatorError(`DATABASE_URL is set: ${advice}`)
}

function blobFolderOf({ media, dataDir }: Config): string | undefined {
  return media.kind === 'folder' ? mediaFolderOf(media, dataDir) : undefined
}

function checkComplete(media: MediaCopied | undefined, done: string, place = ''): void {
  const missing = media?.missing.length ?? 0
  if (missing > 0) throw new OperatorError(`${done}, but blobs of media are missing in ${place}: ${missing}`)
}

function describe(media: MediaCopied | undefined): string {
  return media
    ? `Blobs of media: ${media.copied} copied, ${media.kept} there already.`
    : 'No media are in it.'
}
