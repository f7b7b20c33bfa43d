// Copies the blobs that a database names from the folder of media to a backup, and back. Blobs never change,
// so one that is there already is not copied again.
import { Database } from 'bun:sqlite'
import { join } from 'node:path/posix'
import { AbsentFile, BackupError, DamagedFile } from './backup-error.ts'
import { type BackupPlace, type Pieces, writeSummed } from './backup-place.ts'
import { type Checksums, readChecked, sumOf } from './checksums.ts'
import { type Decryption, ENCRYPTED, type Encryption } from './encryption.ts'

/** What was done with the blobs of a database. */
export interface MediaCopied {
  readonly copied: number
  /** How many were there already. */
  readonly kept: number
  /** The objects that could not be copied, because they are not there or shorter than the database says. */
  readonly missing: readonly string[]
}

const BLOB = /^media(?:-\w+)?\/\w{2}\/(?<object>\w+)(?:\.age)?$/

/** Whether a file of a place has the name of a blob. */
export function isMediaFile(file: string): boolean {
  return BLOB.test(file)
}

interface StoredBlob {
  readonly object: string
  readonly bytes: number
}

/**
 * Copies the blobs that `database` names from a folder of media to a backup.
 * @param parts.known the checksums of the former backup
 * @param parts.sums gets the checksums of the blobs in the backup
 */
export async function backUpMedia(parts: {
  database: string
  from: BackupPlace
  to: BackupPlace
  encryption: Encryption | undefined
  known: Checksums
  sums: Map<string, string>
}): Promise<MediaCopied> {
  const { from, to, encryption, known, sums } = parts
  return await copyAll(parts.database, async ({ object, bytes }) => {
    const file = encryption
      ? `media-${encryption.name}/${fileOf(object)}${ENCRYPTED}`
      : `media/${fileOf(object)}`
    const pieces = (): Pieces => firstBytes(from.read(fileOf(object)), bytes)
    const isThere = (await to.sizeOf(file)) === (encryption?.sizeOf(bytes) ?? bytes)
    try {
      const keptSum = isThere
        ? (known.get(file) ?? (await sumIfSame(to, file, encryption ?? pieces)))
        : undefined
      if (keptSum !== undefined) {
        sums.set(file, keptSum)
        return 'kept'
      }
      sums.set(file, await writeSummed(to, file, encryption ? encryption.encrypt(pieces()) : pieces()))
      return 'copied'
    } catch (error) {
      if (error instanceof AbsentFile) return 'missing'
      throw error
    }
  })
}

/**
 * The checksum of a file that is there already and that no list names, such as one of a backup that was cut
 * off. It may be damaged, so it is compared with what would be copied. What is encrypted cannot be compared.
 * @returns undefined if it is to be copied again
 */
async function sumIfSame(
  to: BackupPlace,
  file: string,
  source: Encryption | (() => Pieces),
): Promise<string | undefined> {
  if (typeof source !== 'function') return undefined
  const sum = await sumOf(source())
  return (await sumOf(to.read(file))) === sum ? sum : undefined
}

/**
 * Copies the blobs that `database` names from a backup to a folder of media.
 * @param parts.sums the checksums of the backup
 * @param parts.isDamageSkipped whether blobs that are damaged or absent are left out
 * @throws BackupError if a blob of the backup is damaged or absent
 */
export async function restoreMedia(parts: {
  database: string
  from: BackupPlace
  to: BackupPlace
  sums: Checksums
  decryption: Decryption | undefined
  isDamageSkipped: boolean
}): Promise<MediaCopied> {
  const { from, to, sums, decryption, isDamageSkipped } = parts
  const files = new Map<string, string>()
  for (const file of sums.keys()) {
    const object = BLOB.exec(file)?.groups?.object
    if (object !== undefined) files.set(object, file)
  }
  return await copyAll(parts.database, async ({ object, bytes }) => {
    if ((await to.sizeOf(fileOf(object))) === bytes) return 'kept'
    const file = files.get(object)
    if (file === undefined) return 'missing'
    const pieces = readChecked(from, file, sums.get(file) ?? '')
    try {
      await to.write(fileOf(object), decryption ? decryption.decrypt(pieces, from.pathOf(file)) : pieces)
      return 'copied'
    } catch (error) {
      if (!(error instanceof DamagedFile)) throw error
      if (isDamageSkipped) return 'missing'
      throw new BackupError(`${error.message}; --skip-damaged restores everything else`, { cause: error })
    }
  })
}

async function copyAll(
  databaseFile: string,
  copy: (blob: StoredBlob) => Promise<'copied' | 'kept' | 'missing'>,
): Promise<MediaCopied> {
  const done = { copied: 0, kept: 0, missing: [] as string[] }
  using database = new Database(databaseFile, { readonly: true })
  using stored = database.prepare<StoredBlob, []>(
    "SELECT object, bytes FROM media_blobs WHERE state = 'stored' ORDER BY id",
  )
  for (const blob of stored.iterate()) {
    const result = await copy(blob)
    if (result === 'missing') done.missing.push(blob.object)
    else done[result] += 1
  }
  return done
}

// The file of a blob may be longer for a moment, see folder-store.ts.
async function* firstBytes(pieces: Pieces, bytes: number): Pieces {
  let left = bytes
  for await (const piece of pieces) {
    yield piece.subarray(0, left)
    left -= Math.min(left, piece.byteLength)
    if (left === 0) return
  }
  if (left > 0) throw new AbsentFile('the blob is shorter than the database says')
}

// As folder-store.ts names files.
function fileOf(object: string): string {
  return join(object.slice(0, 2), object)
}
