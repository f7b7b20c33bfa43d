// Why a backup cannot be made or restored, in one sentence for the operator.
import { SQLiteError } from 'bun:sqlite'

/** A backup cannot be made or restored, and the operator can change that. The message is one sentence. */
export class BackupError extends Error {
  override readonly name = 'BackupError'
}

/** A file is not there. */
export class AbsentFile extends BackupError {}

/** A file of a backup is not what was written. */
export class DamagedFile extends BackupError {}

/**
 * Runs a step of a backup.
 * @param failure what the operator is told if it fails: `cannot write /var/backups/sotto.db`
 * @throws BackupError if the file system or the database file is the cause; any other error as it is
 */
export async function backupStep<T>(failure: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    const reason = reasonOf(cause)
    throw reason === undefined ? cause : new BackupError(`${failure}: ${reason}`, { cause })
  }
}

function reasonOf(error: unknown): string | undefined {
  // SQLITE_ERROR is a mistake in a statement, so it is a bug.
  if (error instanceof SQLiteError) return error.code === 'SQLITE_ERROR' ? undefined : error.message
  if (!(error instanceof Error && 'syscall' in error)) return undefined
  // Such as `EACCES: permission denied, open '/var/backups/sotto.db'`.
  return /^[A-Z0-9]+: (?<reason>[^,]+)/.exec(error.message)?.groups?.reason ?? error.message
}
