// To whom a place of backups belongs. Old backups are removed by their number, so those of two relays in one
// place would push each other out.

import { Database } from 'bun:sqlite'
import { createHash } from 'node:crypto'
import { BackupError } from './backup-error.ts'
import { type BackupPlace, piecesOf } from './backup-place.ts'
import { textOf } from './encryption.ts'

/** The file that names the relay whose backups are in a place. */
const OWNER_FILE = 'relay.id'

/**
 * Makes a place that of the relay with this database, if it is nobody's.
 * @throws BackupError if it is that of another relay
 */
export async function claimPlace(place: BackupPlace, databaseFile: string): Promise<void> {
  const id = idOf(databaseFile)
  if (id === undefined) return
  const isClaimed = (await place.sizeOf(OWNER_FILE)) !== undefined
  const owner = isClaimed ? await textOf(place.read(OWNER_FILE)) : undefined
  if (owner === undefined) await place.write(OWNER_FILE, piecesOf(`${id}\n`))
  else if (owner !== `${id}\n`)
    throw new BackupError(
      `${place.pathOf(OWNER_FILE)} names another relay; choose a folder of its own for each relay`,
    )
}

// A restored relay is the same one. Each has one key of this purpose, which is never rotated.
function idOf(databaseFile: string): string | undefined {
  using database = new Database(databaseFile, { readonly: true })
  using keys = database.prepare<{ kid: string }, []>(
    "SELECT kid FROM relay_keys WHERE purpose = 'reserve' ORDER BY created_at, kid LIMIT 1",
  )
  const kid = keys.get()?.kid
  if (kid === undefined) return undefined // No relay of this version has run on it yet.
  return createHash('sha256').update(`backups of ${kid}`).digest('hex').slice(0, 32)
}
