// Going by an id that was paid for. It takes effect everywhere with the transaction; the alias before stays one's own.
import { type AliasId, type OrderId, ProtocolError } from '@sotto/protocol'
import { changeAlias, findAccount, lockAccounts } from '../accounts/accounts.ts'
import type { Clock } from '../operations/clock.ts'
import { aliasOf, lockOrder, markBound } from '../payments/payments.ts'
import type { AccountId, Sql } from '../storage/storage.ts'
import { isGivenOut } from './taken.ts'

/** What a bind did. */
export interface Bound {
  readonly alias: AliasId
  /** False where the order had been bound before, by the same account. */
  readonly isNew: boolean
}

/**
 * Binds the id of a confirmed order to an account: of its buyer's, or, where it was reserved for nobody, of the first that
 * presents the order's id. Doing it twice changes nothing.
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
    if (current?.alias_id !== alias) throw new ProtocolError('ALIAS_TAKEN') // Another id took its place since.
    return { alias, isNew: false }
  }
  if (order.status !== 'confirmed') throw new ProtocolError('ORDER_NOT_CONFIRMED')
  if (order.holds === null || (await isGivenOut(sql, alias))) throw new ProtocolError('ALIAS_TAKEN')
  await changeAlias(sql, account, alias)
  await markBound(sql, order, account, clock.now())
  return { alias, isNew: true }
}
