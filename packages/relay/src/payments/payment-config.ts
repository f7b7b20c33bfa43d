// Builds the payment providers that the operator chose, from their settings.

import type { Clock } from '../operations/clock.ts'
import type { Log } from '../operations/log.ts'
import type { RandomBytes } from '../operations/random.ts'
import { SettingError } from '../operations/setting-error.ts'
import type { Storage } from '../storage/storage.ts'
import type { PaymentSettingText } from './payment-settings.ts'
import type { PaymentProvider } from './provider.ts'
import { DevPayments } from './providers/dev.ts'
import { createEvmPayments } from './providers/evm.ts'
import { type EvmConfig, evmConfigOf } from './providers/evm-config.ts'
import { describeHold, type ManualConfig, ManualPayments, manualConfigOf } from './providers/manual.ts'
import { TronPayments } from './providers/tron.ts'
import { type TronConfig, tronConfigOf } from './providers/tron-config.ts'
import { type WebhookConfig, WebhookPayments, webhookConfigOf } from './providers/webhook.ts'

/** A chosen provider, with its settings. */
export type ProviderConfig =
  | { readonly provider: 'manual'; readonly manual: ManualConfig }
  | { readonly provider: 'evm'; readonly evm: EvmConfig }
  | { readonly provider: 'tron'; readonly tron: TronConfig }
  | { readonly provider: 'webhook'; readonly webhook: WebhookConfig }
  | { readonly provider: 'dev' }

/** The chosen providers, each once, the default first. */
export type PaymentConfig = readonly ProviderConfig[]

/** @throws SettingError at the first setting that cannot be used */
export function paymentConfigOf(text: PaymentSettingText): PaymentConfig {
  const names = text('PAYMENTS').split(',')
  const config = names.map((name) => providerConfigOf(name.trim(), text))
  const chosen = config.map(({ provider }) => provider)
  if (new Set(chosen).size < chosen.length)
    throw new SettingError('PAYMENTS', 'a list that names nothing twice')
  // Otherwise every buyer could choose not to pay.
  if (chosen.includes('dev') && chosen.length > 1)
    throw new SettingError('PAYMENTS', 'dev alone, because every buyer could choose it')
  return config
}

function providerConfigOf(provider: string, text: PaymentSettingText): ProviderConfig {
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
      throw new SettingError('PAYMENTS', 'one or several of manual, evm, tron and webhook, or dev alone')
  }
}

/** Describes the ways to pay in one line for the operator. */
export function describePayments(config: PaymentConfig): string {
  return `Payments: ${config.map(describe).join('; ')}`
}

function describe(config: ProviderConfig): string {
  switch (config.provider) {
    case 'manual':
      return config.manual.payTo === ''
        ? 'none, so nothing can be bought (MANUAL_PAY_TO or PAYMENTS says how to be paid)'
        : `by hand; \`sotto orders confirm\` says what arrived${describeHold(config.manual)}`
    case 'evm':
      return config.evm.chains
        .map(({ tokens, network, chainId }) => {
          const symbols = tokens.map(({ symbol }) => symbol).join(', ')
          return `in ${symbols} on ${network}, chain ${chainId}`
        })
        .join('; ')
    case 'tron':
      return 'by TRC-20 token'
    case 'webhook':
      return `by ${config.webhook.processor}`
    case 'dev':
      return 'PRETENDED (PAYMENTS=dev). Everything counts as paid and no money is asked for.'
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

/** Builds the providers. @throws SettingError if one needs another setting that is not set */
export function createProviders(config: PaymentConfig, parts: ProviderParts): PaymentProvider[] {
  return config.flatMap((chosen) => providersOf(chosen, parts))
}

function providersOf(
  config: ProviderConfig,
  { publicUrl, ...parts }: ProviderParts,
): readonly PaymentProvider[] {
  switch (config.provider) {
    case 'manual':
      return [new ManualPayments(config.manual)]
    case 'evm':
      return createEvmPayments(config.evm, parts)
    case 'tron':
      return [new TronPayments(config.tron, parts)]
    case 'webhook':
      return [new WebhookPayments(config.webhook, publicUrl, parts)]
    case 'dev':
      return [new DevPayments(parts)]
    default:
      return config satisfies never
  }
}
