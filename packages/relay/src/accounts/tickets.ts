// Tickets. Each opens one WebSocket, so that clients need not put a token into a URL. Those that are asked
// for and used at the same time are stored and removed together, because all clients of a node come at once
// when another node has died.
import { createHash } from 'node:crypto'
import { ProtocolError } from '@sotto/protocol'
import type { Caller } from '../listener/route.ts'
import type { Clock } from '../operations/clock.ts'
import { type RandomBytes, randomText } from '../operations/random.ts'
import { Together } from '../operations/together.ts'
import { type AccountId, list, query, type Storage } from '../storage/storage.ts'

/** What older relays cannot do. A client uses none of it with a relay that does not name it. */
const FEATURES = ['after', 'epochs']

interface TicketRow {
  readonly ticket_hash: string
  readonly account_id: AccountId
  readonly jti: string
  readonly token_expires_at: number
  readonly expires_at: number
}

export class Tickets {
  readonly #storage: Storage
  readonly #clock: Clock
  readonly #randomBytes: RandomBytes
  readonly #lifeSeconds: number
  readonly #adding: Together<TicketRow, undefined>
  readonly #removing: Together<string, TicketRow | undefined>

  constructor(parts: { storage: Storage; clock: Clock; randomBytes: RandomBytes; lifeSeconds: number }) {
    this.#storage = parts.storage
    this.#clock = parts.clock
    this.#randomBytes = parts.randomBytes
    this.#lifeSeconds = parts.lifeSeconds
    this.#adding = new Together((tickets) => this.#add(tickets))
    this.#removing = new Together((hashes) => this.#remove(hashes))
  }

  /** Creates a ticket for the caller. */
  async issue(caller: Caller): Promise<{ ticket: string; expires_in: number; features: string[] }> {
    const ticket = randomText(this.#randomBytes, 24)
    const { id: account_id, jti, tokenExpiresAt: token_expires_at } = caller
    const expires_at = this.#clock.now() + this.#lifeSeconds * 1000
    await this.#adding.do({ ticket_hash: hashOf(ticket), account_id, jti, token_expires_at, expires_at })
    return { ticket, expires_in: this.#lifeSeconds, features: FEATURES }
  }

  /**
   * Removes a ticket, and returns the account and token that it was created for.
   * @throws ProtocolError `TICKET_INVALID` if it is unknown, used or expired
   */
  async redeem(ticket: string): Promise<Caller> {
    const row = await this.#removing.do(hashOf(ticket))
    if (!row || row.expires_at <= this.#clock.now()) throw new ProtocolError('TICKET_INVALID')
    return { id: row.account_id, jti: row.jti, tokenExpiresAt: row.token_expires_at }
  }

  async #add(tickets: readonly TicketRow[]): Promise<undefined[]> {
    await this.#storage.unsyncedTransaction((sql) =>
      Promise.all(
        tickets.map(
          (ticket) => sql`
            INSERT INTO tickets (ticket_hash, account_id, jti, token_expires_at, expires_at)
            VALUES (${ticket.ticket_hash}, ${ticket.account_id}, ${ticket.jti}, ${ticket.token_expires_at},
              ${ticket.expires_at})`,
        ),
      ),
    )
    return tickets.map(() => undefined)
  }

  async #remove(hashes: readonly string[]): Promise<(TicketRow | undefined)[]> {
    const rows = await this.#storage.unsyncedTransaction((sql) =>
      sql<TicketRow>(
        ...query`
          DELETE FROM tickets WHERE ticket_hash IN ${list(hashes)}
          RETURNING ticket_hash, account_id, jti, token_expires_at, expires_at`,
      ),
    )
    const rowOf = new Map(rows.map((row) => [row.ticket_hash, row]))
    return hashes.map((hash) => {
      const row = rowOf.get(hash)
      rowOf.delete(hash) // A ticket that comes twice at the same time opens one connection.
      return row
    })
  }
}

// Tickets are stored as hashes, so that someone who reads the store or a copy of it cannot open a connection.
function hashOf(ticket: string): string {
  return createHash('sha256').update(ticket).digest('base64url')
}
