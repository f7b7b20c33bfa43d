// Watches for payments and ends orders, on one node at a time. The other nodes only learn what they need for
// opening orders.
import type { Turn, Turns } from '../operations/turns.ts'
import type { Storage } from '../storage/storage.ts'
import { forgetTroubles } from './chain-store.ts'
import { type LedgerParts, PaymentLedger } from './ledger.ts'
import type { Order } from './order.ts'
import { OrderEnds } from './order-ends.ts'
import { sweepOrders } from './order-expiry.ts'
import type { PaymentMethods } from './payment-methods.ts'
import type { PaymentProvider } from './provider.ts'

interface Parts extends LedgerParts {
  readonly methods: PaymentMethods
  readonly ledger: PaymentLedger
  readonly turns: Turns
  readonly isClockTrusted: () => Promise<boolean>
  /** Builds providers that write to this store. */
  readonly providersOn: (storage: Storage) => readonly PaymentProvider[]
}

export class PaymentWatcher {
  readonly #parts: Parts
  #isStopped = false
  /** Those that follow, while another node watches. */
  #following: readonly PaymentProvider[] = []

  constructor(parts: Parts) {
    this.#parts = parts
    parts.turns.inEach((turn) => this.#watch(turn))
  }

  /** Follows, if no turn has begun. Call it after the turns were started. */
  async start(): Promise<void> {
    if (!this.#parts.turns.current) await this.#follow()
  }

  /** Ends what is running. Call it before the turns are stopped. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await stopAll(this.#following)
  }

  async #watch(turn: Turn): Promise<void> {
    const { methods, providersOn } = this.#parts
    const parts = { ...this.#parts, storage: turn.storage }
    const ledger = new PaymentLedger(parts)
    const providers = providersOn(turn.storage)
    let failedOrder: Order | undefined
    const ends = new OrderEnds({
      ...parts,
      seenUntil: (now) => providers.map((provider) => provider.seenUntil(now)),
      sweep: async () => {
        failedOrder = await sweepOrders({ ...parts, ledger }, { after: failedOrder })
      },
    })
    try {
      await forgetTroubles(turn.storage)
      for (const provider of providers) await provider.start(ledger)
      const before = this.#following
      methods.use(providers)
      this.#following = []
      ends.start()
      await stopAll(before)
      await untilOver(turn.signal)
    } finally {
      await ends.stop()
      if (!this.#isStopped) await this.#follow()
      await stopAll(providers)
    }
  }

  async #follow(): Promise<void> {
    const { storage, ledger, methods, providersOn } = this.#parts
    const before = this.#following
    const providers = providersOn(storage)
    this.#following = providers
    methods.use(providers)
    for (const provider of providers) await provider.follow?.(ledger)
    await stopAll(before)
  }
}

async function stopAll(providers: readonly PaymentProvider[]): Promise<void> {
  await Promise.all(providers.map((provider) => provider.stop()))
}

function untilOver(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve())
  })
}
