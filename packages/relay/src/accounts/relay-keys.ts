// The relay's secrets. They are created at the first start, and all nodes share them through the store.
import type { Clock } from '../operations/clock.ts'
import { type RandomBytes, randomText } from '../operations/random.ts'
import type { Sql, Storage } from '../storage/storage.ts'

/** One secret. Everything it signs names its `kid`, so that a newer secret can replace it. */
export interface RelayKey {
  readonly kid: string
  readonly secret: Uint8Array
}

/** The secrets of one purpose: the first one signs, all of them verify. */
export type RelayKeys = readonly [RelayKey, ...RelayKey[]]

/**
 * The keys of a purpose, newest first. Creates one if none exists.
 * @param parts.makeSecret creates the secret if 32 random bytes are not suitable
 */
export async function openRelayKeys(
  storage: Storage,
  purpose: 'token' | 'challenge' | 'vapid' | 'media' | 'reserve',
  parts: { clock: Clock; randomBytes: RandomBytes; makeSecret?: (randomBytes: RandomBytes) => Uint8Array },
): Promise<RelayKeys> {
  return await storage.transaction(async (sql) => {
    // This lock keeps two nodes that start for the first time from creating different keys.
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
