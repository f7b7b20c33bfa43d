// The methods by which orders can be paid, of all providers that are set up, in the operator's order.
import type { PaymentMethod, PaymentProvider } from './provider.ts'

/** A method and its provider. */
export interface Offer {
  readonly method: PaymentMethod
  readonly provider: PaymentProvider
}

/** All methods. */
export class PaymentMethods {
  #providers: readonly PaymentProvider[]
  #offers: readonly Offer[]

  constructor(providers: readonly PaymentProvider[]) {
    this.#providers = providers
    this.#offers = offersOf(providers)
  }

  get providers(): readonly PaymentProvider[] {
    return this.#providers
  }

  /** Replaces the providers, by some with the same methods. */
  use(providers: readonly PaymentProvider[]): void {
    this.#providers = providers
    this.#offers = offersOf(providers)
  }

  /** The method of this asset; undefined if it is not set up (any more). */
  find(asset: string): Offer | undefined {
    return this.#offers.find(({ method }) => method.asset === asset)
  }

  /** The methods that buyers can choose now. */
  available(): Offer[] {
    return this.#offers.filter(({ provider, method }) => provider.isAvailable(method))
  }

  /** All methods, those that are available now first: the order in which a new order tries them. */
  byAvailability(): Offer[] {
    const available = this.available()
    return [...available, ...this.#offers.filter((offer) => !available.includes(offer))]
  }

  /** Whether there is only one method, so that a buyer has nothing to choose. */
  get isOnlyOne(): boolean {
    return this.#offers.length === 1
  }

  /**
   * The provider that reports payments in an asset; undefined if it is not set up (any more). It also reports
   * those in an asset that is no longer a method.
   */
  providerOf(asset: string): PaymentProvider | undefined {
    return this.#offers.find(({ method }) => chainOf(method.asset) === chainOf(asset))?.provider
  }

  /** The decimal places of an asset in which orders can be paid. */
  decimalsOf(asset: string): number | undefined {
    return this.find(asset)?.method.decimals
  }

  /**
   * The time up to which all payments at places that were opened by these methods are known, in milliseconds
   * since 1970. A provider that is no longer set up reports nothing, so it is not waited for.
   */
  seenUntil(assets: readonly string[], now: number): number {
    const providers = assets.map((asset) => this.providerOf(asset))
    return Math.min(now, ...providers.map((provider) => provider?.seenUntil(now) ?? now))
  }
}

function offersOf(providers: readonly PaymentProvider[]): Offer[] {
  return providers.flatMap((provider) => provider.methods.map((method) => ({ method, provider })))
}

// `evm:1/0xdac1…` is on `evm:1`.
function chainOf(asset: string): string {
  return asset.split('/', 1)[0] ?? asset
}
