// Reads and checks the settings of the provider `evm`.

import type { Address } from 'viem'
import { SettingError } from '../../operations/setting-error.ts'
import type { PaymentSettingText, paymentSettings } from '../payment-settings.ts'
import { DepositAddresses } from './deposit-keys.ts'
import { countHosts, type EvmChain, readChainsFile, tokenAddressOf, usualAgree } from './evm-chains-file.ts'
import { explorerSettingOf } from './explorer.ts'

/** The configuration of the provider. */
export interface EvmConfig {
  /** At least one, each with another id. */
  readonly chains: readonly EvmChain[]
  readonly deposits: DepositAddresses
  /** How often each chain is read. */
  readonly pollMs: number
  /** Endpoints of other chains; they may hold credentials. */
  readonly otherRpcUrls: readonly string[]
}

type Name = Extract<keyof typeof paymentSettings, `EVM_${string}`>

/** @throws SettingError at the first setting that cannot be used */
export function evmConfigOf(text: PaymentSettingText): EvmConfig {
  const whole = (name: Name, min: number, max: number): number => wholeNumber(name, text(name), min, max)
  const rpcUrls = urls('EVM_RPC_URLS', text('EVM_RPC_URLS'))
  const file = text('EVM_CHAINS_FILE')
  if (rpcUrls.length === 0 && file === '') {
    throw new SettingError('EVM_RPC_URLS', 'the URL of at least one JSON-RPC endpoint')
  }
  const ofSettings = (): EvmChain => ({
    rpcUrls,
    chainId: whole('EVM_CHAIN_ID', 1, Number.MAX_SAFE_INTEGER),
    network: short('EVM_NETWORK', text('EVM_NETWORK')),
    confirmations: whole('EVM_CONFIRMATIONS', 1, 1000),
    agree: agree('EVM_AGREE', text('EVM_AGREE'), rpcUrls),
    explorerUrl: explorerSettingOf('EVM_EXPLORER_URL', text('EVM_EXPLORER_URL')),
    tokens: [
      {
        address: token(text('EVM_TOKEN')),
        symbol: short('EVM_TOKEN_SYMBOL', text('EVM_TOKEN_SYMBOL')),
        decimals: whole('EVM_TOKEN_DECIMALS', 0, 18),
      },
    ],
  })
  const chains = [
    ...(rpcUrls.length > 0 ? [ofSettings()] : []),
    ...(file === '' ? [] : readChainsFile('EVM_CHAINS_FILE', file)),
  ]
  const repeated = chains.find(({ chainId }, at) => chains.findIndex((one) => one.chainId === chainId) < at)
  if (repeated) {
    const rule = `a file whose chains differ from each other and from EVM_CHAIN_ID; chain ${repeated.chainId} is set twice`
    throw new SettingError('EVM_CHAINS_FILE', rule)
  }
  return {
    chains,
    deposits: new DepositAddresses('EVM_XPUB', text('EVM_XPUB')),
    pollMs: whole('EVM_POLL_MS', 50, 600_000),
    otherRpcUrls: urls('EVM_OTHER_RPC_URLS', text('EVM_OTHER_RPC_URLS')),
  }
}

function urls(name: Name, text: string): readonly string[] {
  const list = text.split(',').map((url) => url.trim())
  const given = list.filter((url) => url !== '')
  for (const url of given) {
    const protocol = URL.canParse(url) ? new URL(url).protocol : undefined
    if (protocol === 'https:' || protocol === 'http:') continue
    throw new SettingError(name, 'URLs that begin with https:// or http://, with commas between them')
  }
  return given
}

function agree(name: Name, text: string, rpcUrls: readonly string[]): number {
  return text === '' ? usualAgree(rpcUrls) : wholeNumber(name, text, 1, countHosts(rpcUrls))
}

function token(text: string): Address {
  const address = tokenAddressOf(text)
  if (address) return address
  throw new SettingError('EVM_TOKEN', 'the address of an ERC-20 token, 0x and 40 hexadecimal digits')
}

function short(name: Name, text: string): string {
  if (!/^\P{C}{1,32}$/u.test(text)) throw new SettingError(name, '1 to 32 printable characters')
  return text
}

function wholeNumber(name: Name, text: string, min: number, max: number): number {
  const value = /^[0-9]{1,16}$/.test(text) ? Number(text) : Number.NaN
  if (!(value >= min && value <= max)) throw new SettingError(name, `a whole number from ${min} to ${max}`)
  return value
}
