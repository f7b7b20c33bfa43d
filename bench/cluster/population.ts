// Fills a relay's PostgreSQL with accounts, with a token for each, as after years of use. It writes to the
// relay's tables directly, because registering 50,000 accounts over the wire takes longer than the
// measurement.
import { randomBytes } from 'node:crypto'
import { SQL } from 'bun'
import { openRelayKeys } from '../../packages/relay/src/accounts/relay-keys.ts'
import { Tokens } from '../../packages/relay/src/accounts/tokens.ts'
import { openPostgres } from '../../packages/relay/src/storage/postgres.ts'

/** An account of the load. */
export interface Member {
  readonly uuid: string
  readonly alias: string
  readonly token: string
  /** The address that a proxy would report for it; each member has its own. */
  readonly address: string
}

/** Two friends. */
export interface Friends {
  readonly from: Member
  readonly to: Member
  readonly conv: string
}

/** The accounts that a store was filled with. */
export interface Population {
  readonly members: readonly Member[]
  /** They are not among the members. */
  readonly friends: readonly Friends[]
}

/** @param count how many members; `pairs` of friends come on top of them */
export async function populate(url: string, count: number, pairs: number): Promise<Population> {
  const clock = { now: Date.now, monotonic: () => performance.now() }
  const parts = { clock, randomBytes: (length: number) => new Uint8Array(randomBytes(length)) }
  const storage = await openPostgres(url, { connections: 2 })
  const keys = { current: await openRelayKeys(storage, 'token', parts) }
  const tokens = new Tokens({ storage, keys, ...parts, lifeSeconds: 86_400 })
  await storage.close()
  await using sql = new SQL(url, { max: 1 })
  const all = await addAccounts(sql, count + 2 * pairs)
  const members = all.map(({ uuid, alias_id: alias }, index): Member => {
    const { token } = tokens.issue({ uuid: uuid as never, logged_out_at: 0 })
    return { uuid, alias, token, address: `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}` }
  })
  const convs = await befriend(
    sql,
    all.slice(count).map(({ id }) => id),
  )
  await sql`ANALYZE`
  const friends = convs.flatMap((conv, index): Friends[] => {
    const [from, to] = members.slice(count + 2 * index, count + 2 * index + 2)
    return from && to ? [{ from, to, conv }] : []
  })
  return { members: members.slice(0, count), friends }
}

async function addAccounts(
  sql: SQL,
  count: number,
): Promise<{ id: string; uuid: string; alias_id: string }[]> {
  await sql`
    INSERT INTO accounts (uuid, alias_id, nickname, ed25519_public_key, x25519_public_key, created_at)
    SELECT gen_random_uuid()::text, 'u1' || lpad(i::text, 9, '0'), 'filled',
      encode(sha256(('e' || i)::bytea), 'base64'), encode(sha256(('x' || i)::bytea), 'base64'), ${Date.now()}
    FROM generate_series(1, ${count}::int) AS i`
  await sql`INSERT INTO aliases (alias_id, account_id) SELECT alias_id, id FROM accounts`
  await sql`
    INSERT INTO mailboxes (account_id, last_position, pending_count, pending_bytes) SELECT id, 0, 0, 0 FROM accounts`
  return await sql`SELECT id, uuid, alias_id FROM accounts ORDER BY id`
}

/** Makes friends of each two accounts that follow one another. @returns the `conv_id` of each pair */
async function befriend(sql: SQL, ids: readonly string[]): Promise<string[]> {
  const pairs = Array.from({ length: ids.length / 2 }, (_, index) => ids.slice(2 * index, 2 * index + 2))
  const [lows, highs] = [pairs.map(([low]) => Number(low)), pairs.map(([, high]) => Number(high))]
  const [asLows, asHighs] = [sql.array(lows, 'BIGINT'), sql.array(highs, 'BIGINT')]
  const now = Date.now()
  await sql`
    INSERT INTO friendships (low_id, high_id, requester_id, recipient_id, status, created_at, changed_at)
    SELECT low, high, low, high, 'accepted', ${now}, ${now} FROM unnest(${asLows}, ${asHighs}) AS pairs (low, high)`
  const made: { conv_id: string }[] = await sql`
    INSERT INTO conversations (conv_id, low_id, high_id, is_open, last_seq, last_at)
    SELECT gen_random_uuid()::text, low, high, 1, 0, 0 FROM unnest(${asLows}, ${asHighs}) AS pairs (low, high)
    RETURNING conv_id`
  await sql`
    INSERT INTO lanes (conversation_id, recipient_id, sender_id, pending_count, pending_bytes, delivered_seq,
      read_seq, told_delivered_seq, told_read_seq)
    SELECT id, low_id, high_id, 0, 0, 0, 0, 0, 0 FROM conversations UNION ALL
    SELECT id, high_id, low_id, 0, 0, 0, 0, 0, 0 FROM conversations`
  return made.map(({ conv_id }) => conv_id)
}
