// What the tests of payment providers share: the real ledger on a new store, orders placed with the provider
// under test as a relay places them, and a second connection that sees only committed data.
import { Database } from 'bun:sqlite'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AliasId, check, defaultLimits, OrderId, QUOTA_REF } from '@sotto/protocol'
import { addAccount, findAccountByAlias } from '../src/accounts/accounts.ts'
import { createInProcessBus } from '../src/cluster/in-process-bus.ts'
import { createGoods } from '../src/goods.ts'
import { type Clock, systemClock } from '../src/operations/clock.ts'
import { createLog } from '../src/operations/log.ts'
import { systemRandom } from '../src/operations/random.ts'
import { PaymentLedger } from '../src/payments/ledger.ts'
import type { Order } from '../src/payments/order.ts'
import { sweepOrders } from '../src/payments/order-expiry.ts'
import { Orders } from '../src/payments/orders.ts'
import type { Payment } from '../src/payments/payment.ts'
import { PaymentMethods } from '../src/payments/payment-methods.ts'
import type { PaymentProvider } from '../src/payments/provider.ts'
import { openSqlite } from '../src/storage/sqlite.ts'
import type { AccountId } from '../src/storage/storage.ts'
import { VanityRules } from '../src/vanity/vanity.ts'

/** A ledger with its store. */
export type LedgerWorld = Awaited<ReturnType<typeof openLedgerWorld>>

/** Opens an empty ledger. @param clock by default the machine's clock */
export async function openLedgerWorld(clock: Clock = systemClock) {
  const folder = await mkdtemp(join(tmpdir(), 'sotto-ledger-'))
  const storage = await openSqlite(folder)
  const beside = new Database(join(folder, 'sotto.db'), { readonly: true })
  const limits = { ...defaultLimits(), pendingOrders: 1000 }
  const parts = { storage, clock, limits, randomBytes: systemRandom, bus: createInProcessBus() }
  // The machine's clock does not jump.
  const isClockTrusted = async (): Promise<boolean> => true
  const buyer = await storage.transaction(async (sql): Promise<AccountId> => {
    const keys = { ed25519PublicKey: crypto.randomUUID(), x25519PublicKey: crypto.randomUUID() }
    const added = await addAccount(sql, { ...keys, nickname: 'n' }, parts)
    const account = await findAccountByAlias(sql, check(AliasId, added?.alias_id))
    if (!account) throw new Error('no account was added')
    return account.id
  })
  const payments = (): Payment[] => beside.query<Payment, []>('SELECT * FROM payments ORDER BY id').all()

  const log = createLog('silent')
  const goods = createGoods(new VanityRules(undefined, { clock, log }))
  const ledger = new PaymentLedger({ ...parts, log, goods })

  return {
    ledger,
    /** Orders a seat for this many whole units. */
    place: (provider: PaymentProvider, price: number): Promise<Order> =>
      new Orders({ ...parts, goods, methods: new PaymentMethods([provider]), isClockTrusted }).place(
        buyer,
        async () => ({
          ...{ kind: 'quota', refId: QUOTA_REF, party: `account ${buyer}`, price },
          ...{ taken: 'TOO_MANY_ORDERS', title: 'a seat for one more channel' },
        }),
      ),
    /** Lets an hour pass and ends expired orders. */
    end: async (provider: PaymentProvider): Promise<void> => {
      const later = { ...clock, now: () => clock.now() + 3_600_000 }
      const methods = new PaymentMethods([provider])
      await sweepOrders({ ...parts, ledger, methods, clock: later, log })
    },
    status: ({ id }: Order): string | undefined =>
      beside.query<Order, [number]>('SELECT * FROM orders WHERE id = ?').get(id)?.status,
    /** The committed payments. */
    payments,
    payment: (reference: string): Payment | undefined =>
      payments().find((payment) => payment.reference === reference),
    /** The committed payments as lines that are easy to read in a failed test: `reference amount state`. */
    lines: (): string[] =>
      payments().map(({ reference, amount, state, problem }) =>
        [reference, amount, state, problem].filter((part) => part !== null).join(' '),
      ),
    /** A number that changes with every commit. */
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
