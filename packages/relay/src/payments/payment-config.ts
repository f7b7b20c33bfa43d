// Builds the payment provider that the operator chose, from its settings.

import type { Clock } from '../operations/clock.ts'
import type { Log } from '../operations/log.ts'
import type { RandomBytes } from '../operations/random.ts'
import { SettingError } from '../operations/setting-error.ts'
import type { Storage } from '../storage/storage.ts'
import type { PaymentSettingText } from './payment-settings.ts'
import type { PaymentProvider } from './provider.ts'
import { DevPayments } from './providers/dev.ts'
import { EvmPayments } from './providers/evm.ts'
import { type EvmConfig, evmConfigOf } from './providers/evm-config.ts'
import { type ManualConfig, ManualPayments, manualConfigOf } from './providers/manual.ts'
import { TronPayments } from './providers/tron.ts'
import { type TronConfig, tronConfigOf } from './providers/tron-config.ts'
import { type WebhookConfig, WebhookPayments, webhookConfigOf } from './providers/webhook.ts'

/** The chosen provider, with its settings. */
export type PaymentConfig =
  | { readonly provider: 'manual'; readonly manual: ManualConfig }
  | { readonly provider: 'evm'; readonly evm: EvmConfig }
  | { readonly provider: 'tron'; readonly tron: TronConfig }
  | { readonly provider: 'webhook'; readonly webhook: WebhookConfig }
  | { readonly provider: 'dev' }

/** @throws SettingError at the first setting that cannot be used */
export function paymentConfigOf(text: PaymentSettingText): PaymentConfig {
  const provider = text('PAYMENTS')
  switch (provider) {
    case 'manual':
      return { provider, manual: manualConfigOf(text) }
    case 'evm':
      return { provider, evm: evmConfigOf(text) }
    case 'tron':
      return { provider, tron: tronConfigOf(text) }
    case 'webhook':
      return { provider, webhook: webhookConfigOf(text) }
    case 'dev':
      return { provider }
    default:
      throw new SettingError('PAYMENTS', 'one of manual, evm, tron, webhook, dev')
  }
}

/** Describes the payment provider in one line for the operator. */
export function describePayments(config: PaymentConfig): string {
  switch (config.provider) {
    case 'manual':
      return config.manual.payTo === ''
        ? 'Payments: none, so nothing can be bought (MANUAL_PAY_TO or PAYMENTS says how to be paid)'
        : 'Payments: by hand; `sotto orders confirm` says what arrived'
    case 'evm':
      return `Payments: in ${config.evm.symbol} on ${config.evm.network}, chain ${config.evm.chainId}`
    case 'tron':
      return 'Payments: by TRC-20 token'
    case 'webhook':
      return `Payments: by ${config.webhook.processor}`
    case 'dev':
      return 'Payments: PRETENDED (PAYMENTS=dev). Everything counts as paid and no money is asked for.'
    default:
      return config satisfies never
  }
}

/** The parts that providers need. */
export interface ProviderParts {
  readonly publicUrl: URL | undefined
  readonly storage: Storage
  readonly clock: Clock
  readonly randomBytes: RandomBytes
  readonly log: Log
}

/** @throws SettingError if the provider needs another setting that is not set */
export function createProvider(
  config: PaymentConfig,
  { publicUrl, ...parts }: ProviderParts,
): PaymentProvider {
  switch (config.provider) {
    case 'manual':
      return new ManualPayments(config.manual)
    case 'evm':
      return new EvmPayments(config.evm, { ...parts, pollMs: config.evm.pollMs })
    case 'tron':
      return new TronPayments(config.tron, parts)
    case 'webhook':
      return new WebhookPayments(config.webhook, publicUrl, parts)
    case 'dev':
      return new DevPayments(parts)
    default:
      return config satisfies never
  }
}
