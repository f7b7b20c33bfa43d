// What the tests of payment providers are made of: the real book of payments on a store of its own, orders placed with the
// provider under test as a relay places them, and a second connection that sees nothing but what is committed.
import { Database } from 'bun:sqlite'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AliasId, check, defaultLimits, OrderId, QUOTA_REF } from '@sotto/protocol'
import { addAccount, findAccountByAlias } from '../src/accounts/accounts.ts'
import { channelGoods, seatGoods } from '../src/channels/channels.ts'
import { createInProcessBus } from '../src/cluster/in-process-bus.ts'
import { type Clock, systemClock } from '../src/operations/clock.ts'
import { createLog } from '../src/operations/log.ts'
import { systemRandom } from '../src/operations/random.ts'
import { sweepOrders } from '../src/payments/expiry.ts'
import { PaymentLedger } from '../src/payments/ledger.ts'
import type { Order } from '../src/payments/order.ts'
import { Orders } from '../src/payments/orders.ts'
import type { Payment } from '../src/payments/payment.ts'
import type { PaymentProvider } from '../src/payments/provider.ts'
import { openSqlite } from '../src/storage/sqlite.ts'
import type { AccountId } from '../src/storage/storage.ts'
import { vanityGoods } from '../src/vanity/vanity.ts'

/** A book of payments. */
export type LedgerWorld = Awaited<ReturnType<typeof openLedgerWorld>>

/** Opens one that is empty. @param clock the machine's own where none is given */
export async function openLedgerWorld(clock: Clock = systemClock) {
  const folder = await mkdtemp(join(tmpdir(), 'sotto-ledger-'))
  const storage = await openSqlite(folder)
  const beside = new Database(join(folder, 'sotto.db'), { readonly: true })
  const limits = { ...defaultLimits(), pendingOrders: 1000 }
  const parts = { storage, clock, limits, randomBytes: systemRandom, bus: createInProcessBus() }
  const mayExpire = async (): Promise<boolean> => true // The machine's own clock, at which nothing jumps.
  const goods = { vanity: vanityGoods, reserve: vanityGoods, channel: channelGoods, quota: seatGoods }
  const buyer = await storage.transaction(async (sql): Promise<AccountId> => {
    const keys = { ed25519PublicKey: crypto.randomUUID(), x25519PublicKey: crypto.randomUUID() }
    const added = await addAccount(sql, { ...keys, nickname: 'n' }, parts)
    const account = await findAccountByAlias(sql, check(AliasId, added?.alias_id))
    if (!account) throw new Error('no account was added')
    return account.id
  })
  const payments = (): Payment[] => beside.query<Payment, []>('SELECT * FROM payments ORDER BY id').all()

  return {
    ledger: new PaymentLedger({ ...parts, goods }),
    /** Somebody orders a seat for this many whole units. */
    place: (provider: PaymentProvider, price: number): Promise<Order> =>
      new Orders({ ...parts, provider, mayExpire }).place(buyer, async () => ({
        ...{ kind: 'quota', refId: QUOTA_REF, party: `account ${buyer}`, price },
        ...{ taken: 'TOO_MANY_ORDERS', title: 'a seat for one more channel' },
      })),
    /** An hour passes, and orders whose time is over end. */
    end: async (provider: PaymentProvider): Promise<void> => {
      const later = { ...clock, now: () => clock.now() + 3_600_000 }
      await sweepOrders({ ...parts, provider, clock: later, log: createLog('silent') })
    },
    status: ({ id }: Order): string | undefined =>
      beside.query<Order, [number]>('SELECT * FROM orders WHERE id = ?').get(id)?.status,
    /** What is committed. */
    payments,
    payment: (reference: string): Payment | undefined =>
      payments().find((payment) => payment.reference === reference),
    /** The same in a form that reads well in a failed test: `reference amount state`. */
    lines: (): string[] =>
      payments().map(({ reference, amount, state, problem }) =>
        [reference, amount, state, problem].filter((part) => part !== null).join(' '),
      ),
    /** A number that is another one after every commit. */
    version: (): number =>
      beside.query<{ data_version: number }, []>('PRAGMA data_version').get()?.data_version ?? 0,
    close: async (): Promise<void> => {
      beside.close()
      await storage.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

export function anOrderId(number: number): OrderId {
  return check(OrderId, `ord_${number.toString().padStart(22, '0')}`)
}
