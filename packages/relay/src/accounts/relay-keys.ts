// The relay's own secrets, made on first start and shared by every node through the store.
import type { Clock } from '../operations/clock.ts'
import { type RandomBytes, randomText } from '../operations/random.ts'
import type { Sql, Storage } from '../storage/storage.ts'

/** One secret; `kid` names it in what it signed, so that a later one can take over. */
export interface RelayKey {
  readonly kid: string
  readonly secret: Uint8Array
}

/** Secrets of one purpose: the first signs, all of them verify. */
export type RelayKeys = readonly [RelayKey, ...RelayKey[]]

/**
 * The keys of a purpose, newest first; made where there are none.
 * @param parts.makeSecret makes a secret where 32 random bytes will not do
 */
export async function openRelayKeys(
  storage: Storage,
  purpose: 'token' | 'challenge' | 'vapid' | 'media',
  parts: { clock: Clock; randomBytes: RandomBytes; makeSecret?: (randomBytes: RandomBytes) => Uint8Array },
): Promise<RelayKeys> {
  return await storage.transaction(async (sql) => {
    // Two nodes on their first start must not each sign with a key the other does not know.
    if (storage.engine.dialect === 'postgres') await sql`SELECT pg_advisory_xact_lock(7305804)`
    const [newest, ...older] = await readKeys(sql, purpose)
    if (newest) return [newest, ...older]
    const secret = parts.makeSecret?.(parts.randomBytes) ?? parts.randomBytes(32)
    const key = { kid: randomText(parts.randomBytes, 9), secret }
    await sql`
      INSERT INTO relay_keys (kid, purpose, secret, created_at)
      VALUES (${key.kid}, ${purpose}, ${key.secret}, ${parts.clock.now()})`
    return [key]
  })
}

function readKeys(sql: Sql, purpose: string): Promise<RelayKey[]> {
  return sql<RelayKey>`SELECT kid, secret FROM relay_keys WHERE purpose = ${purpose} ORDER BY created_at DESC, kid`
}
