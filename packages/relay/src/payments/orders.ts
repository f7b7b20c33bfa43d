// Placing orders: what is ordered is held by a unique index, so that of two at once the store lets one through.
import { type ErrorCode, type Limits, type OrderKind, ProtocolError, type RefId } from '@sotto/protocol'
import { lockAccounts } from '../accounts/accounts.ts'
import type { Clock } from '../operations/clock.ts'
import { type RandomBytes, randomText } from '../operations/random.ts'
import { type AccountId, isUniqueViolation, type Sql, type Storage } from '../storage/storage.ts'
import { expireOrder, isOver } from './expiry.ts'
import { addEvent, lockOrderNumber, type Order, type OrderNumber } from './order.ts'
import type { PaymentProvider } from './provider.ts'

/** What is ordered, by whom, and at which price. */
export interface OrderRequest {
  readonly kind: OrderKind
  readonly refId: RefId
  readonly seller?: AccountId
  /** Whole stablecoin units, as the rules say at this moment. */
  readonly price: number
  /** What nobody else can order meanwhile; undefined where any number can be had. */
  readonly holds?: string
  /** Who may not hold the same again for a while if this comes to nothing: an account, or an address. */
  readonly party: string
  /** What whoever comes too late is told. */
  readonly taken: ErrorCode
  /** For people: `the id ada`. */
  readonly title: string
  /** Whether the thing can be had at all, asked once it is held: what was free a moment ago may have been handed over. */
  readonly isFree?: (sql: Sql) => Promise<boolean>
}

/** What placing orders needs. */
export interface OrderParts {
  readonly storage: Storage
  readonly provider: PaymentProvider
  readonly clock: Clock
  readonly randomBytes: RandomBytes
  readonly limits: Limits
  /** False while the clock is not to be believed: nobody's order ends by it then. */
  readonly mayExpire: () => Promise<boolean>
}

/** What is asked for, by whom, and which orders are to end at this moment. */
interface Asked {
  readonly buyer: AccountId | undefined
  readonly request: OrderRequest
  readonly isDue: (order: Order, now: number) => boolean
}

/** Deposit indexes of hardened derivation begin there (BIP-32). */
const INDEX_END = 2 ** 31
/** The row of relay_state that counts deposit indexes. */
const INDEX_ROW = 'deposit_index'

/** Places orders and finds them somewhere to be paid. */
export class Orders {
  readonly #parts: OrderParts

  constructor(parts: OrderParts) {
    this.#parts = parts
  }

  /**
   * Places an order, or answers the one of the same buyer that holds the thing already.
   * @param buyer undefined: nobody yet
   * @param prepare what is ordered, decided within the transaction that places it
   * @throws ProtocolError what `prepare` throws, the request's `taken`, `TOO_MANY_ORDERS`, `RATE_LIMITED` where the party let a
   *   hold of it run out, `PAYMENTS_UNAVAILABLE`
   */
  async place(buyer: AccountId | undefined, prepare: (sql: Sql) => Promise<OrderRequest>): Promise<Order> {
    const { storage, provider } = this.#parts
    const tried: { request?: OrderRequest } = {}
    // Not within the transaction, which must not wait for another connection.
    const mayExpire = await this.#parts.mayExpire()
    const isDue = (order: Order, now: number): boolean => mayExpire && isOver(order, provider, now)
    const placed = await storage
      .transaction(async (sql) => {
        // Two requests at once must not both be the last that may be. And the account before all else, as everywhere.
        if (buyer !== undefined && !(await lockAccounts(sql, [buyer]))) throw new ProtocolError('TOKEN_DEAD')
        const request = await prepare(sql)
        tried.request = request
        const held = await this.#findHeld(sql, { buyer, request, isDue })
        return held ?? (await this.#add(sql, { buyer, request, isDue }))
      })
      .catch((error) => {
        throw tried.request && isUniqueViolation(error) ? new ProtocolError(tried.request.taken) : error
      })
    return placed.pay_to === '' ? await this.#open(placed) : placed
  }

  /** The order that holds the thing, if it is the same buyer's. @throws ProtocolError where it is another's */
  async #findHeld(sql: Sql, { buyer, request, isDue }: Asked): Promise<Order | undefined> {
    if (request.holds === undefined) return undefined
    const [found] = await sql<{ id: OrderNumber }>`SELECT id FROM orders WHERE holds = ${request.holds}`
    if (!found) return undefined
    const order = await lockOrderNumber(sql, found.id)
    if (order.holds === null) return undefined
    const { provider, clock } = this.#parts
    const now = clock.now()
    // The sweep may not have been here yet.
    if (isDue(order, now) && (await expireOrder(sql, order, { provider, now }))) return undefined
    const isOwn = order.buyer_id !== null && order.buyer_id === buyer && order.kind === request.kind
    if (!isOwn || order.status !== 'pending') throw new ProtocolError(request.taken)
    return order
  }

  async #add(sql: Sql, { buyer, request, isDue }: Asked): Promise<Order> {
    const { clock, randomBytes, limits, provider } = this.#parts
    const now = clock.now()
    const isDueNow = (pending: Order): boolean => isDue(pending, now)
    if (buyer !== undefined && (await countPending(sql, buyer, isDueNow)) >= limits.pendingOrders)
      throw new ProtocolError('TOO_MANY_ORDERS')
    if (request.holds !== undefined) await this.#checkParty(sql, request, now)
    const [order] = await sql<Order>`
      INSERT INTO orders (order_id, kind, ref_id, title, holds, buyer_id, seller_id, party, price, provider, deposit_index,
        pay_to, asset, amount, page_token, status, created_at, expires_at)
      VALUES (${`ord_${randomText(randomBytes, 18)}`}, ${request.kind}, ${request.refId}, ${request.title},
        ${request.holds ?? null}, ${buyer ?? null}, ${request.seller ?? null}, ${request.party}, ${request.price}, ${provider.name},
        ${await nextDepositIndex(sql)}, '', '', '', ${randomText(randomBytes, 24)}, 'pending', ${now},
        ${now + limits.orderSeconds * 1000})
      RETURNING *`
    if (!order) throw new Error('an order was not placed')
    if (request.isFree && !(await request.isFree(sql))) throw new ProtocolError(request.taken)
    await addEvent(sql, order.id, { at: now, who: 'relay', what: 'placed', why: request.title })
    return order
  }

  // Against blocking sales for nothing.
  async #checkParty(sql: Sql, request: OrderRequest, now: number): Promise<void> {
    const againMs = this.#parts.limits.holdAgainSeconds * 1000
    const [last] = await sql<{ at: number | null }>`
      SELECT MAX(expires_at) AS at FROM orders WHERE party = ${request.party} AND ref_id = ${request.refId}
        AND status = 'expired'`
    const free = (last?.at ?? 0) + againMs
    if (last?.at && free > now) {
      throw new ProtocolError('RATE_LIMITED', { limit: 'holdAgainSeconds', retryAfterMs: free - now })
    }
  }

  // Outside of the transaction that placed it: a processor may have to be asked.
  async #open(order: Order): Promise<Order> {
    const { storage, provider } = this.#parts
    const { id, order_id: orderId, deposit_index: depositIndex, price, expires_at: expiresAt, title } = order
    try {
      const { payTo, asset, amount, hostedPage } = await provider.open({
        ...{ orderId, depositIndex, price, expiresAt, title },
      })
      return await storage.transaction(async (sql) => {
        await sql`
          UPDATE orders SET provider = ${provider.name}, pay_to = ${payTo}, asset = ${asset}, amount = ${amount.toString()},
            hosted_page = ${hostedPage ?? null}
          WHERE id = ${id} AND pay_to = ''`
        // Of two who opened it at once, the other may have failed and taken it back.
        const [opened] = await sql<Order>`UPDATE orders SET status = status WHERE id = ${id} RETURNING *`
        if (!opened) throw new ProtocolError('PAYMENTS_UNAVAILABLE')
        return opened
      })
    } catch (error) {
      // Nobody was told where to pay for it.
      await storage.transaction(async (sql) => {
        await sql`DELETE FROM order_events WHERE order_number IN (SELECT id FROM orders WHERE id = ${id} AND pay_to = '')`
        await sql`DELETE FROM orders WHERE id = ${id} AND pay_to = ''`
      })
      throw error
    }
  }
}

// One whose time is over counts for as long as it cannot be known whether it was paid, and holds something.
async function countPending(
  sql: Sql,
  buyer: AccountId,
  isDueNow: (order: Order) => boolean,
): Promise<number> {
  const pending = await sql<Order>`SELECT * FROM orders WHERE buyer_id = ${buyer} AND status = 'pending'`
  return pending.filter((order) => !isDueNow(order)).length
}

/** Moves deposit indexes ahead, once after a backup was put back: an address must not be given to a second order. */
export async function moveDepositIndexAhead(sql: Sql, by: number): Promise<void> {
  // Also where the backup knows of no order: there may have been some since.
  await sql`
    INSERT INTO relay_state (name, value) VALUES (${INDEX_ROW}, ${String(by)})
    ON CONFLICT (name) DO UPDATE SET value = CAST(CAST(relay_state.value AS BIGINT) + ${by} AS TEXT)`
}

async function nextDepositIndex(sql: Sql): Promise<number> {
  const [row] = await sql<{ value: string }>`
    INSERT INTO relay_state (name, value) VALUES (${INDEX_ROW}, '0')
    ON CONFLICT (name) DO UPDATE SET value = CAST(CAST(relay_state.value AS BIGINT) + 1 AS TEXT)
    RETURNING value`
  const index = Number(row?.value)
  if (!(index < INDEX_END)) throw new Error('the deposit addresses are used up')
  return index
}
