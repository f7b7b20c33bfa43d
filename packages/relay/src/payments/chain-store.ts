// What the store knows of a chain: the position up to which it was read, the hashes of the blocks before it,
// the block up to which enough endpoints agree, and why its payments wait.
import type { Sql, Storage } from '../storage/storage.ts'

/** A block that was read. */
export interface Position {
  readonly height: number
  readonly hash: string
  /** Milliseconds since 1970. */
  readonly at: number
}

/**
 * Why payments of a chain wait: `stopped`, because the chain is not the one that was read before; `disagree`,
 * because its endpoints contradict each other; `few`, because too few endpoints can be asked.
 */
export type ChainTrouble = 'stopped' | 'disagree' | 'few'

/** The state of a chain. */
export interface ChainState {
  readonly position: Position
  readonly agreed: Position
  readonly trouble: ChainTrouble | undefined
  /** The hosts of the endpoints concerned. */
  readonly troubleHosts: string
  /** The block from which the operator wants the chain to be read again. */
  readonly rescanFrom: number | undefined
}

interface Row extends Position {
  readonly scope: string
  readonly agreed_height: number
  readonly agreed_hash: string
  readonly agreed_at: number
  readonly trouble: ChainTrouble | null
  readonly trouble_hosts: string
  readonly trouble_since: number | null
  readonly rescan_from: number | null
}

/** A chain, as the operator's commands and the readiness show it. */
export interface ChainOverview extends ChainState {
  /** `evm:1` */
  readonly scope: string
  /** Milliseconds since 1970; undefined without trouble. */
  readonly troubleSince: number | undefined
}

/** All chains that were ever read. */
export async function listChains({ sql }: Storage): Promise<ChainOverview[]> {
  const rows = await sql<Row>`
    SELECT chains.*, height, hash, at FROM chains JOIN chain_blocks AS newest ON newest.scope = chains.scope
    WHERE height = (SELECT MAX(height) FROM chain_blocks WHERE scope = chains.scope) ORDER BY chains.scope`
  return rows.map((row) => ({
    ...stateOf(row),
    scope: row.scope,
    troubleSince: row.trouble_since ?? undefined,
  }))
}

/** The state of a chain; undefined before it was read for the first time. */
export async function findChain({ sql }: Storage, scope: string): Promise<ChainState | undefined> {
  const [row] = await sql<Row>`
    SELECT chains.*, height, hash, at FROM chains JOIN chain_blocks ON chain_blocks.scope = chains.scope
    WHERE chains.scope = ${scope} ORDER BY height DESC LIMIT 1`
  return row && stateOf(row)
}

function stateOf(row: Row): ChainState {
  const { height, hash, at, agreed_height, agreed_hash, agreed_at } = row
  return {
    position: { height, hash, at },
    agreed: { height: agreed_height, hash: agreed_hash, at: agreed_at },
    trouble: row.trouble ?? undefined,
    troubleHosts: row.trouble_hosts,
    rescanFrom: row.rescan_from ?? undefined,
  }
}

/** The blocks of a chain that are remembered, the newest first. */
export function listBlocks({ sql }: { sql: Sql }, scope: string): Promise<Position[]> {
  return sql<Position>`
    SELECT height, hash, at FROM chain_blocks WHERE scope = ${scope} ORDER BY height DESC`
}

/** The block at this height, if it is remembered. */
export async function findBlock(sql: Sql, scope: string, height: number): Promise<Position | undefined> {
  const [block] = await sql<Position>`
    SELECT height, hash, at FROM chain_blocks WHERE scope = ${scope} AND height = ${height}`
  return block
}

/** Adds a block to those that are remembered. */
export async function rememberBlock(sql: Sql, scope: string, { height, hash, at }: Position): Promise<void> {
  await sql`
    INSERT INTO chain_blocks (scope, height, hash, at) VALUES (${scope}, ${height}, ${hash}, ${at})
    ON CONFLICT (scope, height) DO NOTHING`
}

/** Forgets the blocks below a height, except the one up to which enough endpoints agree. */
export async function forgetBelow(sql: Sql, scope: string, height: number): Promise<void> {
  await sql`
    DELETE FROM chain_blocks WHERE scope = ${scope} AND height < ${height}
      AND height <> (SELECT agreed_height FROM chains WHERE scope = ${scope})`
}

/**
 * Starts a chain, or starts it again, at `position`, up to which enough endpoints agree.
 * @param older a block below it, so that a reorganisation may reach below the position
 */
export async function startAt(
  sql: Sql,
  scope: string,
  { position, older }: { position: Position; older: Position },
): Promise<void> {
  const { height, hash, at } = position
  await sql`DELETE FROM chain_blocks WHERE scope = ${scope}`
  await sql`
    INSERT INTO chains (scope, agreed_height, agreed_hash, agreed_at) VALUES (${scope}, ${height}, ${hash}, ${at})
    ON CONFLICT (scope) DO UPDATE SET agreed_height = ${height}, agreed_hash = ${hash}, agreed_at = ${at},
      trouble = NULL, trouble_hosts = '', trouble_since = NULL, rescan_from = NULL`
  await rememberBlock(sql, scope, older)
  await rememberBlock(sql, scope, position)
}

/** Sets the block up to which enough endpoints agree. */
export async function setAgreed(sql: Sql, scope: string, { height, hash, at }: Position): Promise<void> {
  await sql`
    UPDATE chains SET agreed_height = ${height}, agreed_hash = ${hash}, agreed_at = ${at} WHERE scope = ${scope}`
}

/**
 * Makes `position` the newest block, after a reorganisation or because what was read above it is not true.
 */
export async function goBackTo(sql: Sql, scope: string, position: Position): Promise<void> {
  await sql`DELETE FROM chain_blocks WHERE scope = ${scope} AND height >= ${position.height}`
  await rememberBlock(sql, scope, position)
  const [above] = await sql<{ scope: string }>`
    SELECT scope FROM chains WHERE scope = ${scope} AND agreed_height > ${position.height}`
  if (above) await setAgreed(sql, scope, position)
}

/**
 * Locks the chain and returns whether it is still at this position. If two nodes read the same block, one of
 * them waits here and then sees that it is too late.
 */
export async function lockChain(sql: Sql, scope: string, position: Position | undefined): Promise<boolean> {
  const [locked] = await sql<{ rescan_from: number | null }>`
    UPDATE chains SET scope = scope WHERE scope = ${scope} RETURNING rescan_from`
  if (!locked || !position) return !locked && !position
  const [newest] = await sql<Position>`
    SELECT height, hash, at FROM chain_blocks WHERE scope = ${scope} ORDER BY height DESC LIMIT 1`
  return newest?.height === position.height && newest.hash === position.hash
}

/** Records why payments of a chain wait, or that they no longer do. */
export async function setTrouble(
  { sql }: { sql: Sql },
  scope: string,
  trouble: { readonly kind: ChainTrouble; readonly hosts: string; readonly now: number } | undefined,
): Promise<void> {
  const { kind = null, hosts = '', now = null } = trouble ?? {}
  await sql`
    UPDATE chains SET trouble_since = CASE WHEN trouble = ${kind ?? ''} THEN trouble_since ELSE ${now} END,
      trouble = ${kind}, trouble_hosts = ${hosts}
    WHERE scope = ${scope}`
}

/**
 * Removes the troubles that an earlier run of the relay recorded. Chains that are still in trouble are found
 * again within a round.
 */
export async function forgetTroubles(storage: Storage): Promise<void> {
  await storage.transaction(
    (sql) => sql`
      UPDATE chains SET trouble = NULL, trouble_hosts = '', trouble_since = NULL WHERE trouble IS NOT NULL`,
  )
}

/** Has a chain read again from this block, in the next round of whichever relay reads it. */
export async function requestRescan(sql: Sql, scope: string, from: number): Promise<void> {
  await sql`UPDATE chains SET rescan_from = ${from} WHERE scope = ${scope}`
}
