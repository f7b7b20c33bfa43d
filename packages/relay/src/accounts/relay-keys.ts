// The relay's secrets. They are created at the first start, and all nodes share them through the store. The
// operator rotates them: the newest signs, and the older ones verify until nothing that they signed is valid.
import type { Bus } from '../cluster/bus.ts'
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

/** The secrets of one purpose as they are now. They change when the operator rotates them. */
export interface LiveKeys {
  readonly current: RelayKeys
}

/** The purposes whose keys can be rotated. */
export const ROTATED = ['token', 'challenge', 'media', 'vapid'] as const
/** See {@link ROTATED}. */
export type RotatedPurpose = (typeof ROTATED)[number]
/** These only hash: `reserve` addresses that reserve ids, for a day; `security` those in the security log. */
type Purpose = RotatedPurpose | 'reserve' | 'security'

interface MakingParts {
  readonly clock: Clock
  readonly randomBytes: RandomBytes
  /** Creates the secret if 32 random bytes are not suitable. */
  readonly makeSecret?: ((randomBytes: RandomBytes) => Uint8Array) | undefined
}

/** The keys of a purpose, newest first. Creates one if none exists. */
export async function openRelayKeys(
  storage: Storage,
  purpose: Purpose,
  parts: MakingParts,
): Promise<RelayKeys> {
  return await storage.transaction(async (sql) => {
    await lockKeys(sql, storage)
    const [newest, ...older] = await readKeys(sql, purpose)
    return newest ? [newest, ...older] : [await addKey(sql, purpose, parts)]
  })
}

/** What the rotation of keys is built from. */
export interface RelayKeyRingsParts {
  readonly storage: Storage
  readonly bus: Bus
  readonly clock: Clock
  readonly randomBytes: RandomBytes
  /** Creates the secret of a VAPID key, which is a private key on P-256. */
  readonly makeVapidSecret: (randomBytes: RandomBytes) => Uint8Array
  /** How many push subscriptions were made with a VAPID key. */
  readonly countSubscriptions: (sql: Sql, kid: string) => Promise<number>
}

/** A key, for the operator. */
export interface KeyLine {
  readonly purpose: RotatedPurpose
  readonly kid: string
  readonly createdAt: number
  readonly signs: boolean
  /** The push subscriptions made with it; null if it is no VAPID key. */
  readonly subscriptions: number | null
}

/** The row of relay_state that says when token keys were last dropped at once. */
const TOKENS_REVOKED = 'tokens_revoked_at'
/** Nodes that were not told of a rotation sign with the old key for another minute. */
const SPARE_MS = 600_000
/** How long a browser may take from asking for the key to sending its subscription, generously. */
const SUBSCRIBING_MS = 86_400_000

/** The keys of all purposes that can be rotated, on one node. */
export class RelayKeyRings {
  readonly #parts: RelayKeyRingsParts
  readonly #keys: Record<RotatedPurpose, RelayKeys>
  #tokensRevokedAt: string | undefined
  #onTokensRevoked: () => void = () => undefined

  private constructor(parts: RelayKeyRingsParts, keys: Record<RotatedPurpose, RelayKeys>) {
    this.#parts = parts
    this.#keys = keys
  }

  /** Reads the keys, and creates those that are missing. */
  static async open(parts: RelayKeyRingsParts): Promise<RelayKeyRings> {
    const open = (purpose: RotatedPurpose): Promise<RelayKeys> =>
      openRelayKeys(parts.storage, purpose, makingPartsOf(purpose, parts))
    const rings = new RelayKeyRings(parts, {
      token: await open('token'),
      challenge: await open('challenge'),
      media: await open('media'),
      vapid: await open('vapid'),
    })
    rings.#tokensRevokedAt = await readTokensRevokedAt(parts.storage.sql)
    return rings
  }

  /** Called after the keys of tokens were dropped: connections that they opened must close. */
  set onTokensRevoked(run: () => void) {
    this.#onTokensRevoked = run
  }

  /** The keys of a purpose, always as they are now. */
  live(purpose: RotatedPurpose): LiveKeys {
    const keys = this.#keys
    return {
      get current() {
        return keys[purpose]
      },
    }
  }

  /** Reads the keys again. Called when a node has rotated them, and once a minute in case nobody was told. */
  async check(): Promise<void> {
    const { sql } = this.#parts.storage
    for (const purpose of ROTATED) {
      const [newest, ...older] = await readKeys(sql, purpose)
      if (newest) this.#keys[purpose] = [newest, ...older]
    }
    const revokedAt = await readTokensRevokedAt(sql)
    if (revokedAt === this.#tokensRevokedAt) return
    this.#tokensRevokedAt = revokedAt
    this.#onTokensRevoked()
  }

  /** Creates a new key that signs from now on. With `dropsOld`, nothing that older keys signed is valid. */
  async rotate(purpose: RotatedPurpose, { dropsOld }: { dropsOld: boolean }): Promise<void> {
    const { storage, bus } = this.#parts
    await storage.transaction(async (sql) => {
      await lockKeys(sql, storage)
      const { kid } = await addKey(sql, purpose, makingPartsOf(purpose, this.#parts))
      if (!dropsOld) return
      await sql`DELETE FROM relay_keys WHERE purpose = ${purpose} AND kid <> ${kid}`
      // Any value differs from the one before. The kid is unique, and clocks are not.
      if (purpose === 'token')
        await sql`
          INSERT INTO relay_state (name, value) VALUES (${TOKENS_REVOKED}, ${kid})
          ON CONFLICT (name) DO UPDATE SET value = excluded.value`
    })
    await this.check()
    bus.keysChanged()
  }

  /** Every key, the newest of each purpose first. */
  async list(): Promise<KeyLine[]> {
    const { storage, countSubscriptions } = this.#parts
    const lines: KeyLine[] = []
    for (const purpose of ROTATED) {
      const rows = await readKeys(storage.sql, purpose)
      for (const [place, { kid, created_at: createdAt }] of rows.entries()) {
        const subscriptions = purpose === 'vapid' ? await countSubscriptions(storage.sql, kid) : null
        lines.push({ purpose, kid, createdAt, signs: place === 0, subscriptions })
      }
    }
    return lines
  }

  /**
   * Deletes old keys that verify nothing any more.
   * @param lifeMs for how long what each purpose's key signs is valid
   */
  async deleteUnused(
    lifeMs: Readonly<Record<Exclude<RotatedPurpose, 'vapid'>, number>>,
    storage: Storage = this.#parts.storage,
  ): Promise<void> {
    const { clock, countSubscriptions } = this.#parts
    const lives = { ...lifeMs, vapid: SUBSCRIBING_MS }
    let isDeleted = false
    for (const purpose of ROTATED) {
      let replacedAt = Number.POSITIVE_INFINITY
      for (const { kid, created_at } of await readKeys(storage.sql, purpose)) {
        const isOver = replacedAt + lives[purpose] + SPARE_MS <= clock.now()
        replacedAt = created_at
        if (!isOver) continue
        await storage.transaction(async (sql) => {
          if (purpose === 'vapid' && (await countSubscriptions(sql, kid)) > 0) return
          await sql`DELETE FROM relay_keys WHERE kid = ${kid}`
          isDeleted = true
        })
      }
    }
    if (isDeleted) await this.check()
  }
}

function makingPartsOf(purpose: RotatedPurpose, parts: RelayKeyRingsParts): MakingParts {
  return { ...parts, makeSecret: purpose === 'vapid' ? parts.makeVapidSecret : undefined }
}

// Two nodes that start for the first time, or rotate at the same time, take turns.
async function lockKeys(sql: Sql, { engine }: Storage): Promise<void> {
  if (engine.dialect === 'postgres') await sql`SELECT pg_advisory_xact_lock(7305804)`
}

async function addKey(sql: Sql, purpose: Purpose, parts: MakingParts): Promise<RelayKey> {
  const [newest] = await readKeys(sql, purpose)
  const secret = parts.makeSecret?.(parts.randomBytes) ?? parts.randomBytes(32)
  const key = { kid: randomText(parts.randomBytes, 9), secret }
  // Later than the key before, also if the clock was set back: the newest one signs.
  const createdAt = Math.max(parts.clock.now(), (newest?.created_at ?? 0) + 1)
  await sql`
    INSERT INTO relay_keys (kid, purpose, secret, created_at)
    VALUES (${key.kid}, ${purpose}, ${key.secret}, ${createdAt})`
  return key
}

function readKeys(sql: Sql, purpose: Purpose): Promise<(RelayKey & { created_at: number })[]> {
  return sql<RelayKey & { created_at: number }>`
    SELECT kid, secret, created_at FROM relay_keys WHERE purpose = ${purpose} ORDER BY created_at DESC, kid`
}

async function readTokensRevokedAt(sql: Sql): Promise<string | undefined> {
  const [row] = await sql<{ value: string }>`SELECT value FROM relay_state WHERE name = ${TOKENS_REVOKED}`
  return row?.value
}
