// Manual payments: the operator's text tells buyers where to pay, and the operator records what arrived.

import { ProtocolError } from '@sotto/protocol'
import { SettingError } from '../../operations/setting-error.ts'
import type { PaymentSettingText } from '../payment-settings.ts'
import type { Destination, OrderToOpen, PaymentMethod, PaymentProvider } from '../provider.ts'

/** The configuration of the provider. */
export interface ManualConfig {
  /** Where to pay; empty means that nothing can be bought. */
  readonly payTo: string
}

const MOST_CHARACTERS = 200
const DECIMALS = 6

/** @throws SettingError */
export function manualConfigOf(text: PaymentSettingText): ManualConfig {
  const payTo = text('MANUAL_PAY_TO')
  if (payTo.length > MOST_CHARACTERS || /\p{Cc}/u.test(payTo))
    throw new SettingError('MANUAL_PAY_TO', `one line of at most ${MOST_CHARACTERS} characters`)
  return { payTo }
}

/** Every order has the same place to pay. Payments are recorded with the operator's commands. */
export class ManualPayments implements PaymentProvider {
  readonly name = 'manual'
  readonly methods: readonly PaymentMethod[] = [
    { asset: 'manual', symbol: 'USDT', decimals: DECIMALS, network: '' },
  ]
  readonly #payTo: string

  constructor(config: ManualConfig) {
    this.#payTo = config.payTo
  }

  isAvailable(): boolean {
    return this.#payTo !== ''
  }

  async open({ price }: OrderToOpen): Promise<Destination> {
    if (this.#payTo === '') throw new ProtocolError('PAYMENTS_UNAVAILABLE')
    return { payTo: this.#payTo, asset: 'manual', amount: BigInt(price) * 10n ** BigInt(DECIMALS) }
  }

  async start(): Promise<void> {}

  async stop(): Promise<void> {}

  seenUntil(now: number): number {
    return now
  }
}
