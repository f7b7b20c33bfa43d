// Tickets. Each opens one WebSocket, so that clients need not put a token into a URL.
import { createHash } from 'node:crypto'
import { ProtocolError } from '@sotto/protocol'
import type { Caller } from '../listener/route.ts'
import { type RandomBytes, randomText } from '../operations/random.ts'
import type { AccountId, Storage } from '../storage/storage.ts'

/** What older relays cannot do. A client uses none of it with a relay that does not name it. */
const FEATURES = ['after']

/** Creates a ticket for the caller that is valid for `lifeSeconds`. */
export async function issueTicket(
  storage: Storage,
  caller: Caller,
  parts: { now: number; randomBytes: RandomBytes; lifeSeconds: number },
): Promise<{ ticket: string; expires_in: number; features: string[] }> {
  const ticket = randomText(parts.randomBytes, 24)
  await storage.unsyncedTransaction(async (sql) => {
    await sql`
      INSERT INTO tickets (ticket_hash, account_id, jti, token_expires_at, expires_at)
      VALUES (${hashOf(ticket)}, ${caller.id}, ${caller.jti}, ${caller.tokenExpiresAt},
        ${parts.now + parts.lifeSeconds * 1000})`
  })
  return { ticket, expires_in: parts.lifeSeconds, features: FEATURES }
}

interface TicketRow {
  account_id: AccountId
  jti: string
  token_expires_at: number
  expires_at: number
}

/**
 * Removes a ticket, and returns the account and token that it was created for.
 * @throws ProtocolError `TICKET_INVALID` if it is unknown, used or expired
 */
export async function redeemTicket(storage: Storage, ticket: string, now: number): Promise<Caller> {
  const [row] = await storage.unsyncedTransaction(
    (sql) => sql<TicketRow>`
      DELETE FROM tickets WHERE ticket_hash = ${hashOf(ticket)}
      RETURNING account_id, jti, token_expires_at, expires_at`,
  )
  if (!row || row.expires_at <= now) throw new ProtocolError('TICKET_INVALID')
  return { id: row.account_id, jti: row.jti, tokenExpiresAt: row.token_expires_at }
}

// Tickets are stored as hashes, so that someone who reads the store or a copy of it cannot open a connection.
function hashOf(ticket: string): string {
  return createHash('sha256').update(ticket).digest('base64url')
}
