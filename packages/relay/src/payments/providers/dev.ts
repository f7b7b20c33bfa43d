// Pretended payments, for trying things out: every order counts as paid two seconds after it was placed.
import type { Clock } from '../../operations/clock.ts'
import type { Log } from '../../operations/log.ts'
import { TurnOver } from '../../operations/turns.ts'
import type {
  Destination,
  Ledger,
  OrderPending,
  OrderToOpen,
  PaymentMethod,
  PaymentProvider,
} from '../provider.ts'

const PAID_AFTER_MS = 2000
const CHECK_EVERY_MS = 1000
const DECIMALS = 6

/** Confirms every order without money. Used only if the operator sets it explicitly. */
export class DevPayments implements PaymentProvider {
  readonly name = 'dev'
  readonly methods: readonly PaymentMethod[] = [
    { asset: 'dev', symbol: 'USDT', decimals: DECIMALS, network: '' },
  ]
  readonly #clock: Clock
  readonly #log: Log
  #timer: Timer | undefined
  #running: Promise<void> | undefined

  constructor(parts: { clock: Clock; log: Log }) {
    this.#clock = parts.clock
    this.#log = parts.log
  }

  isAvailable(): boolean {
    return true
  }

  async open({ price }: OrderToOpen): Promise<Destination> {
    return {
      payTo: 'Nothing is to be paid: this relay only pretends to sell.',
      asset: 'dev',
      amount: BigInt(price) * 10n ** BigInt(DECIMALS),
    }
  }

  async start(ledger: Ledger): Promise<void> {
    this.#log.warn('payments_are_pretended', {
      setting: 'PAYMENTS',
      reason: 'every order counts as paid and no money is asked for; never use dev where people buy',
    })
    this.#timer = setInterval(() => {
      this.#running ??= this.#pay(ledger).finally(() => {
        this.#running = undefined
      })
    }, CHECK_EVERY_MS)
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#running
  }

  seenUntil(now: number): number {
    return now
  }

  async #pay(ledger: Ledger): Promise<void> {
    try {
      const due = this.#clock.now() - PAID_AFTER_MS
      const orders = (await ledger.pending(this.name)).filter(({ createdAt }) => createdAt <= due)
      if (orders.length > 0) await recordAll(ledger, orders)
    } catch (error) {
      if (error instanceof TurnOver) return // The lease has said so.
      this.#log.error('payments_round_failed', { error, reason: this.name })
    }
  }
}

async function recordAll(ledger: Ledger, orders: readonly OrderPending[]): Promise<void> {
  await ledger.transaction(async (entries) => {
    for (const { orderId, asset, amount, createdAt } of orders) {
      await entries.record({
        reference: `dev/${orderId}`,
        scope: 'dev',
        for: { orderId },
        asset,
        amount,
        at: createdAt + PAID_AFTER_MS,
        isFinal: true,
      })
    }
  })
}
