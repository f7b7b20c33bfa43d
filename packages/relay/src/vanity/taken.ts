// Which ids nobody can have any more.
import { isHeld } from '../payments/payments.ts'
import type { Sql } from '../storage/storage.ts'

/** True for every id ever given to an account, also one that it goes by no more. */
export async function isGivenOut(sql: Sql, id: string): Promise<boolean> {
  const rows = await sql<{ account_id: number }>`SELECT account_id FROM aliases WHERE alias_id = ${id}`
  return rows.length > 0
}

/** True where an id is given out, or held by an order. */
export async function isTaken(sql: Sql, id: string): Promise<boolean> {
  return (await isGivenOut(sql, id)) || (await isHeld(sql, `alias:${id}`))
}
