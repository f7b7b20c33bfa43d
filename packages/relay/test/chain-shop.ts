// A shop on a real store whose orders are paid on real chains: orders, ledger and the provider `evm`, put together.
import { AliasId, check, defaultLimits, QUOTA_PRICE } from '@sotto/protocol'
import { mnemonicToAccount } from 'viem/accounts'
import { addAccount, findAccountByAlias } from '../src/accounts/accounts.ts'
import { channelGoods, seatGoods } from '../src/channels/channels.ts'
import { orderSeat } from '../src/channels/trade.ts'
import { createInProcessBus } from '../src/cluster/in-process-bus.ts'
import { type Clock, systemClock } from '../src/operations/clock.ts'
import type { Log, LogFields } from '../src/operations/log.ts'
import { systemRandom } from '../src/operations/random.ts'
import { PaymentLedger } from '../src/payments/ledger.ts'
import { findOrder, type Order } from '../src/payments/order.ts'
import { Orders } from '../src/payments/orders.ts'
import { listPayments, type Payment } from '../src/payments/payment.ts'
import { EvmPayments } from '../src/payments/providers/evm.ts'
import { evmConfigOf } from '../src/payments/providers/evm-config.ts'
import type { Storage } from '../src/storage/storage.ts'
import { vanityGoods } from '../src/vanity/vanity.ts'

/** A phrase from the test vectors of BIP-39; never hold money under it. Not that of the accounts that anvil gives coins to. */
export const PHRASE = 'legal winner thank year wave sausage worth useful legal winner thank yellow'
/** The extended public key of its first Ethereum account. */
export const XPUB = mnemonicToAccount(PHRASE, { path: "m/44'/60'/0'" }).getHdKey().publicExtendedKey
/** The price of everything here, in the smallest unit of a token with six decimals. */
export const PRICE = BigInt(QUOTA_PRICE) * 1_000_000n
/** How often these shops look at their chains. */
const POLL_MS = 50

/** A line of the log. */
export interface LogLine extends LogFields {
  readonly level: string
  readonly event: string
}

/** Settings of the provider; the key and a few others are given. */
export type EvmSettings = Readonly<Record<string, string | number>>

/** One relay's part in payments. */
export type ChainShop = Awaited<ReturnType<typeof openChainShop>>

/** Opens a shop on a store. Ends with the store: stop it first. */
export async function openChainShop(storage: Storage, settings: EvmSettings) {
  const limits = { ...defaultLimits(), pendingOrders: 2000, orderSeconds: 86_400 }
  const log: LogLine[] = []
  const clock = { ...systemClock } // For a test to change.
  const parts = { storage, limits, clock: systemClock, randomBytes: systemRandom, bus: createInProcessBus() }
  const mayExpire = async (): Promise<boolean> => true // The machine's own clock, at which nothing jumps.
  const goods = { vanity: vanityGoods, reserve: vanityGoods, channel: channelGoods, quota: seatGoods }
  const ledger = new PaymentLedger({ ...parts, goods })
  let provider = createEvm(settings, { storage, log, clock })
  let orders = new Orders({ ...parts, provider, mayExpire })
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
    /** What became of the money for an order: `seen`, `gone`, `counted`, or why it goes back. */
    outcomes: async (order: Order): Promise<string[]> => {
      const payments = await listPayments(storage.sql, order.id)
      return payments.map(({ state, outcome, reason }) =>
        reason ? `${outcome} ${reason}` : (outcome ?? state),
      )
    },
    /** The blocks it remembers of a chain, the newest first. */
    blocks: (scope: string) =>
      storage.sql<{ height: number; hash: string }>`
        SELECT height, hash FROM chain_blocks WHERE scope = ${scope} ORDER BY height DESC`,
    start: () => provider.start(ledger),
    stop: () => provider.stop(),
    /** Starts it, and waits until orders can be opened. */
    open: async (): Promise<void> => {
      await provider.start(ledger)
      const order = { orderId: 'ord_x' as never, depositIndex: 0, price: 1, expiresAt: 0, title: '' }
      await until('orders can be opened', () =>
        provider.open(order).then(
          () => true,
          () => false,
        ),
      )
    },
    /** A relay that comes back, perhaps with other settings, on the same store. Not started yet. */
    again: (changed: EvmSettings = {}): void => {
      provider = createEvm({ ...settings, ...changed }, { storage, log, clock })
      orders = new Orders({ ...parts, provider, mayExpire })
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
): EvmPayments {
  const given: EvmSettings = {
    ...{ EVM_CHAIN_ID: 31337, EVM_TOKEN_DECIMALS: 6, EVM_TOKEN_SYMBOL: 'USDT', EVM_NETWORK: 'Test' },
    ...{ EVM_XPUB: XPUB, EVM_CONFIRMATIONS: 3, EVM_OTHER_RPC_URLS: '', EVM_POLL_MS: POLL_MS },
    ...settings,
  }
  const config = evmConfigOf((name) => String(given[name] ?? ''))
  const parts = { storage, clock, randomBytes: systemRandom, log: logInto(log), pollMs: config.pollMs }
  return new EvmPayments(config, parts)
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

/** Waits until something is so. @throws where it does not become so */
export async function until(
  what: string,
  isSo: () => boolean | Promise<boolean>,
  withinMs = 30_000,
): Promise<void> {
  const end = performance.now() + withinMs
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(`in vain: ${what}`)
    await Bun.sleep(10)
  }
}
