// Says which ids can no longer be ordered.
import { isHeld } from '../payments/payments.ts'
import type { Sql } from '../storage/storage.ts'

/** Whether an id was ever assigned to an account, even if the account uses another one now. */
export async function isGivenOut(sql: Sql, id: string): Promise<boolean> {
  const rows = await sql<{ account_id: number }>`SELECT account_id FROM aliases WHERE alias_id = ${id}`
  return rows.length > 0
}

/** The key that an order of an id holds. */
export function aliasHold(id: string): string {
  return `alias:${id}`
}

/** Whether an id was assigned, or is held by an order. */
export async function isTaken(sql: Sql, id: string): Promise<boolean> {
  return (await isGivenOut(sql, id)) || (await isHeld(sql, aliasHold(id)))
}
