// A shop on a real store whose orders are paid on real chains. It consists of the orders, the ledger and the
// provider `evm`.
import { AliasId, check, defaultLimits, QUOTA_PRICE } from '@sotto/protocol'
import { mnemonicToAccount } from 'viem/accounts'
import { addAccount, findAccountByAlias } from '../src/accounts/accounts.ts'
import { orderSeat } from '../src/channels/trade.ts'
import { createInProcessBus } from '../src/cluster/in-process-bus.ts'
import { createGoods } from '../src/goods.ts'
import { type Clock, systemClock } from '../src/operations/clock.ts'
import type { Log, LogFields } from '../src/operations/log.ts'
import { systemRandom } from '../src/operations/random.ts'
import { PaymentLedger } from '../src/payments/ledger.ts'
import { findOrder, type Order } from '../src/payments/order.ts'
import { Orders } from '../src/payments/orders.ts'
import { listPayments, type Payment } from '../src/payments/payment.ts'
import { PaymentMethods } from '../src/payments/payment-methods.ts'
import type { PaymentMethod, PaymentProvider } from '../src/payments/provider.ts'
import { createEvmPayments } from '../src/payments/providers/evm.ts'
import { evmConfigOf } from '../src/payments/providers/evm-config.ts'
import type { Storage } from '../src/storage/storage.ts'
import { VanityRules } from '../src/vanity/vanity.ts'

/**
 * A phrase from the test vectors of BIP-39; never hold money under it. It is a different phrase from the one
 * of anvil's funded accounts.
 */
export const PHRASE = 'legal winner thank year wave sausage worth useful legal winner thank yellow'
/** The extended public key of its first Ethereum account. */
export const XPUB = mnemonicToAccount(PHRASE, { path: "m/44'/60'/0'" }).getHdKey().publicExtendedKey
/** The price of every order here, in the smallest unit of a token with six decimals. */
export const PRICE = BigInt(QUOTA_PRICE) * 1_000_000n
/** How often these shops read their chains. */
const POLL_MS = 50

/** A line of the log. */
export interface LogLine extends LogFields {
  readonly level: string
  readonly event: string
}

/** Settings of the provider. The key and a few others have defaults. */
export type EvmSettings = Readonly<Record<string, string | number>>

type EvmProvider = ReturnType<typeof createEvmPayments>[number]

/** The payment part of one relay. */
export type ChainShop = Awaited<ReturnType<typeof openChainShop>>

/** Opens a shop on a store. Stop the shop before you close the store. */
export async function openChainShop(storage: Storage, settings: EvmSettings) {
  const limits = { ...defaultLimits(), pendingOrders: 2000, orderSeconds: 86_400 }
  const log: LogLine[] = []
  const clock = { ...systemClock } // Tests may change it.
  const parts = { storage, limits, clock: systemClock, randomBytes: systemRandom, bus: createInProcessBus() }
  // The machine's clock does not jump.
  const isClockTrusted = async (): Promise<boolean> => true
  const goods = createGoods(new VanityRules(undefined, { clock: systemClock, log: logInto(log) }))
  const ledger = new PaymentLedger({ ...parts, log: logInto(log), goods })
  let provider = createEvm(settings, { storage, log, clock })
  const ordersAt = () =>
    new Orders({ ...parts, goods, methods: new PaymentMethods([provider]), isClockTrusted })
  let orders = ordersAt()
  const buyer = await addBuyer(storage)

  const shop = {
    ...{ storage, ledger, log, clock },
    get provider() {
      return provider
    },
    /** Opens an order for {@link PRICE}. */
    order: (): Promise<Order> => orderSeat(buyer, { orders }),
    status: async ({ order_id }: Order) => (await findOrder(storage.sql, order_id))?.status,
    payments: ({ id }: Order): Promise<Payment[]> => listPayments(storage.sql, id),
    /** The outcome of each payment for an order: `seen`, `gone`, `counted`, or why it is refunded. */
    outcomes: async (order: Order): Promise<string[]> => {
      const payments = await listPayments(storage.sql, order.id)
      return payments.map(({ state, outcome, reason }) =>
        reason ? `${outcome} ${reason}` : (outcome ?? state),
      )
    },
    /** The blocks of a chain that it has stored, the newest first. */
    blocks: (scope: string) =>
      storage.sql<{ height: number; hash: string }>`
        SELECT height, hash FROM chain_blocks WHERE scope = ${scope} ORDER BY height DESC`,
    start: () => provider.start(ledger),
    stop: () => provider.stop(),
    /** Starts the shop and waits until orders can be opened. */
    open: async (): Promise<void> => {
      await provider.start(ledger)
      const order = { orderId: 'ord_x' as never, depositIndex: 0, price: 1, expiresAt: 0, title: '' }
      await until('orders can be opened', () =>
        provider.open(order, aMethod(provider)).then(
          () => true,
          () => false,
        ),
      )
    },
    /**
     * Replaces the provider, as a restarted relay does on the same store, with changed settings if given.
     * Does not start it.
     */
    again: (changed: EvmSettings = {}): void => {
      provider = createEvm({ ...settings, ...changed }, { storage, log, clock })
      orders = ordersAt()
    },
    /** Waits until the chain is read up to this height. */
    hasRead: (height: number): Promise<void> =>
      until(`block ${height} is read`, () => provider.confirmations(height).have > 0),
  }
  return shop
}

function createEvm(
  settings: EvmSettings,
  { storage, log, clock }: { storage: Storage; log: LogLine[]; clock: Clock },
): EvmProvider {
  const given: EvmSettings = {
    ...{ EVM_CHAIN_ID: 31337, EVM_TOKEN_DECIMALS: 6, EVM_TOKEN_SYMBOL: 'USDT', EVM_NETWORK: 'Test' },
    ...{ EVM_XPUB: XPUB, EVM_CONFIRMATIONS: 3, EVM_OTHER_RPC_URLS: '', EVM_POLL_MS: POLL_MS },
    ...settings,
  }
  const config = evmConfigOf((name) => String(given[name] ?? ''))
  const parts = { storage, clock, randomBytes: systemRandom, log: logInto(log) }
  const [provider] = createEvmPayments(config, parts)
  if (!provider) throw new Error('no chain is set')
  return provider
}

/** The first method of a provider. */
export function aMethod({ methods }: PaymentProvider): PaymentMethod {
  const [method] = methods
  if (!method) throw new Error('the provider has no method')
  return method
}

function logInto(lines: LogLine[]): Log {
  const at =
    (level: string) =>
    (event: string, fields: LogFields = {}): void =>
      void lines.push({ level, event, ...fields })
  return { error: at('error'), warn: at('warn'), info: at('info'), debug: at('debug') }
}

async function addBuyer(storage: Storage) {
  const added = await storage.transaction((sql) => {
    const keys = { ed25519PublicKey: crypto.randomUUID(), x25519PublicKey: crypto.randomUUID() }
    return addAccount(sql, { ...keys, nickname: 'n' }, { clock: systemClock, randomBytes: systemRandom })
  })
  const account = added && (await findAccountByAlias(storage.sql, check(AliasId, added.alias_id)))
  if (!account) throw new Error('no account was added')
  return account.id
}

/** Waits until a condition holds. @throws if it does not hold in time */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  withinMs = 30_000,
): Promise<void> {
  const end = performance.now() + withinMs
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`waited in vain until ${what}`)
    await Bun.sleep(10)
  }
}
