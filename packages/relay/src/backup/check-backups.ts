// Reads every file of every backup in a place and compares it with its checksum.
import { BackupError } from './backup-error.ts'
import type { BackupPlace } from './backup-place.ts'
import { namesOfBackups, readChecked, readChecksums } from './checksums.ts'

/** What was found. */
export interface Checked {
  readonly backups: number
  readonly files: number
  /** A sentence for each file that is damaged or missing. */
  readonly damaged: readonly string[]
}

/**
 * Checks all backups in a place. No key is needed.
 * @throws BackupError if the place cannot be read
 */
export async function checkBackups(place: BackupPlace): Promise<Checked> {
  const names = await namesOfBackups(place)
  const damaged: string[] = []
  const sums = new Map<string, string>()
  for (const name of names) {
    try {
      // A file that was damaged and copied again may be encrypted again. The later checksum is right.
      for (const [file, sum] of await readChecksums(place, name)) sums.set(file, sum)
    } catch (error) {
      damaged.push(sentenceOf(error))
    }
  }
  for (const [file, sum] of sums) {
    try {
      for await (const _ of readChecked(place, file, sum));
    } catch (error) {
      damaged.push(sentenceOf(error))
    }
  }
  return { backups: names.length, files: sums.size, damaged }
}

function sentenceOf(error: unknown): string {
  if (error instanceof BackupError) return error.message
  throw error
}
