// The list that completes a backup: the SHA-256 of each of its files, in the form of `sha256sum`, so that
// `sha256sum --check` reads it too. A backup exists as soon as its list does.
import { createHash } from 'node:crypto'
import { AbsentFile, DamagedFile } from './backup-error.ts'
import { type BackupPlace, type Pieces, piecesOf, summed } from './backup-place.ts'
import { textOf } from './encryption.ts'

/** What the name of a list ends in. */
const LIST = '.sha256'
const LIST_NAME = /^(?<name>\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}\.\d{3}Z)\.sha256$/
const FILE_NAME = /^\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}\.\d{3}Z\./
const LINE = /^(?<sum>[0-9a-f]{64}) {2}(?<file>.+)$/

/** The SHA-256 of files in hexadecimal, by their names. */
export type Checksums = ReadonlyMap<string, string>

/** The names of the backups in a place, the oldest first. */
export async function namesOfBackups(place: BackupPlace): Promise<string[]> {
  return namesIn(await place.list())
}

/** The names of the backups whose lists are among these files, the oldest first. */
export function namesIn(files: readonly string[]): string[] {
  return files.flatMap((file) => LIST_NAME.exec(file)?.groups?.name ?? []).toSorted()
}

/** The file of a backup's list. */
export function listOf(name: string): string {
  return `${name}${LIST}`
}

/** Whether a file has the name of a backup. */
export function isFileOfBackup(file: string): boolean {
  return FILE_NAME.test(file)
}

/** Completes a backup. */
export async function writeChecksums(place: BackupPlace, name: string, sums: Checksums): Promise<void> {
  const text = Array.from(sums, ([file, sum]) => `${sum}  ${file}\n`).join('')
  await place.write(listOf(name), piecesOf(text))
}

/** @throws DamagedFile if a line is not of that form */
export async function readChecksums(place: BackupPlace, name: string): Promise<Map<string, string>> {
  const list = listOf(name)
  const sums = new Map<string, string>()
  const text = await textOf(place.read(list))
  for (const line of text.split('\n').slice(0, -1)) {
    const { sum, file } = LINE.exec(line)?.groups ?? {}
    if (sum === undefined || file === undefined) throw new DamagedFile(`${place.pathOf(list)} is damaged`)
    sums.set(file, sum)
  }
  if (sums.size === 0 || !text.endsWith('\n')) throw new DamagedFile(`${place.pathOf(list)} is damaged`)
  return sums
}

/** As {@link readChecksums}, but a list that is damaged is empty. */
export async function readUndamaged(place: BackupPlace, name: string): Promise<Map<string, string>> {
  try {
    return await readChecksums(place, name)
  } catch (error) {
    if (error instanceof DamagedFile) return new Map()
    throw error
  }
}

/** The SHA-256 of a file in hexadecimal. */
export async function sumOf(pieces: Pieces): Promise<string> {
  const hash = createHash('sha256')
  for await (const piece of pieces) hash.update(piece)
  return hash.digest('hex')
}

/**
 * Reads a file of a backup.
 * @throws DamagedFile if it is absent, or at its end if it is not the one of the checksum
 */
export async function* readChecked(place: BackupPlace, file: string, sum: string): Pieces {
  const path = place.pathOf(file)
  try {
    yield* summed(place.read(file), (told) => {
      if (told !== sum) throw new DamagedFile(`${path} is damaged`)
    })
  } catch (error) {
    throw error instanceof AbsentFile ? new DamagedFile(`${path} is missing`, { cause: error }) : error
  }
}
