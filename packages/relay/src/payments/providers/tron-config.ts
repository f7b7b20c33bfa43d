// Reads and checks the settings of the provider `tron`.
import { SettingError } from '../../operations/setting-error.ts'
import type { PaymentSettingText } from '../payment-settings.ts'
import { interfaceUrlOf } from './bounded-request.ts'
import { DepositAddresses } from './deposit-keys.ts'
import { countHosts } from './evm-chains-file.ts'
import { explorerSettingOf } from './explorer.ts'
import { isAddress } from './tron-address.ts'
import type { TronEndpointsConfig } from './tron-endpoints.ts'

/** The configuration of the provider. */
export interface TronConfig extends TronEndpointsConfig {
  readonly token: string
  readonly deposits: DepositAddresses
  readonly confirmations: number
  /** The address of a transaction's page in an explorer, with `{transaction}` in place of its id. */
  readonly explorerUrl: string | undefined
}

/** @throws SettingError */
export function tronConfigOf(text: PaymentSettingText): TronConfig {
  const confirmations = text('TRON_CONFIRMATIONS')
  if (!/^[1-9][0-9]{0,3}$/.test(confirmations) || Number(confirmations) > 1000)
    throw new SettingError('TRON_CONFIRMATIONS', 'a whole number from 1 to 1000')
  if (!isAddress(text('TRON_TOKEN')))
    throw new SettingError('TRON_TOKEN', 'the address of a TRC-20 token (T…)')
  if (!/^[\x21-\x7e]{0,500}$/.test(text('TRON_API_KEY')))
    throw new SettingError('TRON_API_KEY', 'the key TronGrid gave you, without spaces, or empty')
  const apiUrls = text('TRON_API_URL')
    .split(',')
    .map((url) => interfaceUrlOf('TRON_API_URL', url.trim()))
  // One host agrees with itself.
  if (countHosts(apiUrls) < apiUrls.length)
    throw new SettingError('TRON_API_URL', 'URLs that differ in their hosts')
  return {
    apiUrls,
    agree: agreeOf(text('TRON_AGREE'), apiUrls.length),
    chainId: chainIdOf(text('TRON_CHAIN_ID')),
    apiKey: text('TRON_API_KEY'),
    token: text('TRON_TOKEN'),
    deposits: new DepositAddresses('TRON_XPUB', text('TRON_XPUB')),
    confirmations: Number(confirmations),
    explorerUrl: explorerSettingOf('TRON_EXPLORER_URL', text('TRON_EXPLORER_URL')),
  }
}

function agreeOf(given: string, endpoints: number): number {
  if (given === '') return Math.min(2, endpoints)
  const agree = /^[0-9]{1,3}$/.test(given) ? Number(given) : 0
  if (agree >= 1 && agree <= endpoints) return agree
  throw new SettingError(
    'TRON_AGREE',
    `a whole number from 1 to ${endpoints}, the number of endpoints, or empty`,
  )
}

function chainIdOf(given: string): number {
  if (/^[1-9][0-9]{0,9}$/.test(given) && Number(given) < 2 ** 32) return Number(given)
  throw new SettingError('TRON_CHAIN_ID', 'a whole number from 1 to 4294967295')
}
