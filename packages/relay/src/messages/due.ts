// What is due for connected accounts, read from the store when rings may have been lost.
import { type AccountId, list, query, type Sql } from '../storage/storage.ts'
import type { Notice } from './notices.ts'

/** What an account may not have been sent. */
export interface Due {
  readonly account: AccountId
  /** The last position of its mailbox. */
  readonly lastPosition: number
  /** Whether marks of receipts may not have arrived. */
  readonly hasReceipts: boolean
  /** The notices that have not certainly arrived, oldest first. */
  readonly notices: readonly Notice[]
}

/** Reads what is due for some accounts, at least one. */
export async function readDue(sql: Sql, accounts: readonly AccountId[]): Promise<Due[]> {
  const asked = list(accounts)
  const mailboxes = await sql<{ account_id: AccountId; last_position: number }>(
    ...query`SELECT account_id, last_position FROM mailboxes WHERE account_id IN ${asked}`,
  )
  const senders = await sql<{ sender_id: AccountId }>(
    ...query`
      SELECT DISTINCT sender_id FROM lanes
      WHERE sender_id IN ${asked} AND (told_delivered_seq < delivered_seq OR told_read_seq < read_seq)`,
  )
  const notices = await sql<Notice & { account_id: AccountId }>(
    ...query`SELECT account_id, id, frame FROM notices WHERE account_id IN ${asked} ORDER BY id`,
  )
  const withReceipts = new Set(senders.map(({ sender_id }) => sender_id))
  const noticesOf = Map.groupBy(notices, ({ account_id }) => account_id)
  return mailboxes.map(({ account_id: account, last_position: lastPosition }) => {
    return {
      ...{ account, lastPosition },
      hasReceipts: withReceipts.has(account),
      notices: noticesOf.get(account) ?? [],
    }
  })
}
