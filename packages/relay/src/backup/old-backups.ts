// Removes old backups from a place, with the files that no other backup names.
import { BackupError, DamagedFile } from './backup-error.ts'
import type { BackupPlace } from './backup-place.ts'
import { isFileOfBackup, listOf, namesIn, readChecksums } from './checksums.ts'
import { isMediaFile } from './media-copy.ts'

/**
 * Removes all backups but the newest ones, and everything that no backup names any more: their files, and
 * what an earlier removal or a backup that was cut off has left. No other backup may be made in the place
 * meanwhile. The lists go first, so a removal that is cut off leaves each backup that has a list whole, and
 * the next one goes on.
 * @param made the backup that was just made. It stays, also if the clock says that it is old
 * @param last how many stay, at least 1
 * @returns how many backups were removed
 * @throws BackupError if something cannot be removed, or a list that stays is damaged: then nothing goes
 */
export async function removeOldBackups(place: BackupPlace, made: string, last: number): Promise<number> {
  const files = await place.listAll()
  const others = namesIn(files).filter((name) => name !== made)
  const removed = others.slice(0, Math.max(0, others.length - (last - 1)))
  const named = new Set<string>()
  for (const name of [made, ...others.slice(removed.length)]) {
    for (const file of (await readListThatStays(place, name)).keys()) named.add(file)
    named.add(listOf(name))
  }
  const lists = new Set(removed.map(listOf))
  await removeAll(place, lists)
  await removeAll(
    place,
    files.filter(
      (file) => !(named.has(file) || lists.has(file)) && (isFileOfBackup(file) || isMediaFile(file)),
    ),
  )
  return removed.length
}

async function removeAll(place: BackupPlace, files: Iterable<string>): Promise<void> {
  for (const file of files) await place.remove(file)
  await place.flush()
}

async function readListThatStays(place: BackupPlace, name: string): Promise<ReadonlyMap<string, string>> {
  try {
    return await readChecksums(place, name)
  } catch (error) {
    if (!(error instanceof DamagedFile)) throw error
    throw new BackupError(`${error.message}, so nobody knows which media it names`, { cause: error })
  }
}
