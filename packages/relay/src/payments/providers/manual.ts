// Manual payments: the operator's text tells buyers where to pay, and the operator records what arrived.

import { ProtocolError } from '@sotto/protocol'
import { SettingError } from '../../operations/setting-error.ts'
import type { PaymentSettingText } from '../payment-settings.ts'
import type { Destination, OrderToOpen, PaymentMethod, PaymentProvider } from '../provider.ts'

/** The configuration of the provider. */
export interface ManualConfig {
  /** Where to pay; empty means that nothing can be bought. */
  readonly payTo: string
  /** How many hours an order lasts; undefined for the usual time. */
  readonly holdHours: number | undefined
}

const MOST_CHARACTERS = 200
const DECIMALS = 6
const MOST_HOLD_HOURS = 720
const HOUR_MS = 3_600_000

/** @throws SettingError */
export function manualConfigOf(text: PaymentSettingText): ManualConfig {
  const payTo = text('MANUAL_PAY_TO')
  if (payTo.length > MOST_CHARACTERS || /\p{Cc}/u.test(payTo))
    throw new SettingError('MANUAL_PAY_TO', `one line of at most ${MOST_CHARACTERS} characters`)
  return { payTo, holdHours: holdHoursOf(text('MANUAL_HOLD_HOURS')) }
}

function holdHoursOf(text: string): number | undefined {
  if (text === '') return undefined
  const hours = /^[0-9]{1,3}$/.test(text) ? Number(text) : 0
  if (hours < 1 || hours > MOST_HOLD_HOURS)
    throw new SettingError(
      'MANUAL_HOLD_HOURS',
      `a whole number of hours from 1 to ${MOST_HOLD_HOURS}, or empty for the time of every order`,
    )
  return hours
}

/** Says in a line of the operator's how long one order of each account is held; empty for the usual time. */
export function describeHold({ holdHours }: ManualConfig): string {
  return holdHours === undefined ? '' : `; one order of each account is held for ${holdHours} h`
}

/** Every order has the same place to pay. Payments are recorded with the operator's commands. */
export class ManualPayments implements PaymentProvider {
  readonly name = 'manual'
  readonly methods: readonly PaymentMethod[] = [
    { asset: 'manual', symbol: 'USDT', decimals: DECIMALS, network: '' },
  ]
  readonly holdMs: number | undefined
  readonly #payTo: string

  constructor(config: ManualConfig) {
    this.#payTo = config.payTo
    this.holdMs = config.holdHours === undefined ? undefined : config.holdHours * HOUR_MS
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
