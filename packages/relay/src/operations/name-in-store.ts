// Random names that belong to the database, so that what has one is not taken for another relay's.
import type { ReadStorage, Storage } from '../storage/storage.ts'
import type { RandomBytes } from './random.ts'

type Name = 'media_store' | 'bus' | 'incarnation'

/** Reads a name that the database keeps. @returns undefined if no node has made it */
export async function findNameInStore(
  name: Name,
  { sql }: Pick<ReadStorage, 'sql'>,
): Promise<string | undefined> {
  const [row] = await sql<{ value: string }>`SELECT value FROM relay_state WHERE name = ${name}`
  return row?.value
}

/** Reads a name that the database keeps. The first node that asks makes it. */
export async function nameInStore(
  name: Name,
  { storage, randomBytes }: { readonly storage: Storage; readonly randomBytes: RandomBytes },
): Promise<string> {
  const [row] = await storage.transaction(async (sql) => {
    const fresh = Buffer.from(randomBytes(8)).toString('hex')
    await sql`INSERT INTO relay_state (name, value) VALUES (${name}, ${fresh}) ON CONFLICT DO NOTHING`
    return await sql<{ value: string }>`SELECT value FROM relay_state WHERE name = ${name}`
  })
  if (!row) throw new Error(`the store has no ${name}`)
  return row.value
}

/** Forgets a name, so that the next node makes another one. */
export async function forgetNameInStore(name: Name, storage: Storage): Promise<void> {
  await storage.transaction((sql) => sql`DELETE FROM relay_state WHERE name = ${name}`)
}
