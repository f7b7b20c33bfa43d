// Binds a paid id to an account. All accounts see the new id once the transaction commits; the account keeps
// its previous id as well.
import { AliasId, check, type OrderId, ProtocolError } from '@sotto/protocol'
import { changeAlias, findAccount, lockAccounts } from '../accounts/accounts.ts'
import type { Clock } from '../operations/clock.ts'
import { lockOrder, markBound, type Order } from '../payments/payments.ts'
import type { AccountId, Sql } from '../storage/storage.ts'
import { isGivenOut } from './taken.ts'

/** The result of binding. */
export interface Bound {
  readonly alias: AliasId
  /** False if the same account had bound the order before. */
  readonly isNew: boolean
}

/**
 * Binds the id of a confirmed order to the account of its buyer. If the order has no buyer (a reserved id),
 * the first account that presents the order's id gets it. Binding twice changes nothing.
 * @throws ProtocolError `NOT_FOUND`, `ORDER_NOT_CONFIRMED`, `ALIAS_TAKEN`
 */
export async function bind(
  sql: Sql,
  { order: id, account }: { order: OrderId; account: AccountId },
  { clock }: { clock: Clock },
): Promise<Bound> {
  if (!(await lockAccounts(sql, [account]))) throw new ProtocolError('TOKEN_DEAD')
  const order = await lockOrder(sql, id)
  const alias = order && aliasOf(order)
  const isTheirs = order && (order.buyer_id === null || order.buyer_id === account)
  if (!order || alias === undefined || !isTheirs) throw new ProtocolError('NOT_FOUND')
  if (order.bound_at !== null) {
    if (order.bound_by !== account) throw new ProtocolError('NOT_FOUND')
    const current = await findAccount(sql, account)
    // The account has bound another id since.
    if (current?.alias_id !== alias) throw new ProtocolError('ALIAS_TAKEN')
    return { alias, isNew: false }
  }
  if (order.status !== 'confirmed') throw new ProtocolError('ORDER_NOT_CONFIRMED')
  if (order.holds === null || (await isGivenOut(sql, alias))) throw new ProtocolError('ALIAS_TAKEN')
  await changeAlias(sql, account, alias)
  await markBound(sql, order, account, clock.now())
  return { alias, isNew: true }
}

/** The id that an order is for; undefined if the order is for something else. */
export function aliasOf({ kind, ref_id }: Order): AliasId | undefined {
  return kind === 'vanity' || kind === 'reserve' ? check(AliasId, ref_id) : undefined
}
