// The settings of `evm`: accepted values, and errors that give the setting and the rule without the value.

import { describe, expect, test } from 'bun:test'
import { XPUB } from '../../../test/chain-shop.ts'
import { SettingError } from '../../operations/setting-error.ts'
import { paymentSettings } from '../payment-settings.ts'
import { DepositAddresses } from './deposit-keys.ts'
import { type EvmConfig, evmConfigOf } from './evm-config.ts'

const TOKEN = '0xdAC17F958D2ee523a2206206994597C13D831ec7'
const needed = { EVM_RPC_URLS: 'https://one.example/secret', EVM_TOKEN: TOKEN, EVM_XPUB: XPUB }

function read(changed: Record<string, string> = {}): EvmConfig {
  const given: Record<string, string> = { ...needed, ...changed }
  return evmConfigOf((name) => given[name] ?? paymentSettings[name].default)
}

function messageOf(changed: Record<string, string>): string {
  try {
    read(changed)
  } catch (error) {
    if (error instanceof SettingError) return error.message
    throw error
  }
  return 'it was accepted'
}

test('needs only an endpoint, the token and the key', () => {
  const config = read()
  expect(config).toMatchObject({
    chains: [
      {
        rpcUrls: ['https://one.example/secret'],
        chainId: 1,
        network: 'Ethereum',
        confirmations: 12,
        explorerUrl: undefined,
        tokens: [{ address: TOKEN.toLowerCase(), symbol: 'USDT', decimals: 6 }],
      },
    ],
    pollMs: 4000,
    otherRpcUrls: [],
  })
  expect(config.deposits.at(0)).toBe(new DepositAddresses('EVM_XPUB', XPUB).at(0))
})

test('splits lists, and accepts addresses in one case or with a right checksum', () => {
  const urls = {
    EVM_RPC_URLS: 'https://a.example, http://b.example:8545/x',
    EVM_OTHER_RPC_URLS: 'https://c.example,',
  }
  expect(read(urls)).toMatchObject({
    chains: [{ rpcUrls: ['https://a.example', 'http://b.example:8545/x'] }],
    otherRpcUrls: ['https://c.example'],
  })
  for (const text of [TOKEN.toLowerCase(), `0x${TOKEN.slice(2).toUpperCase()}`]) {
    expect(read({ EVM_TOKEN: text }).chains).toEqual(read().chains)
  }
})

describe('an error names the setting and the rule', () => {
  test.each([
    ['EVM_RPC_URLS', '', 'the URL of at least one JSON-RPC endpoint'],
    ['EVM_RPC_URLS', 'wss://a.example/key', 'URLs that begin with https:// or http://'],
    ['EVM_OTHER_RPC_URLS', 'https://a.example,key', 'URLs that begin with https:// or http://'],
    ['EVM_CHAIN_ID', '0', 'a whole number from 1 to 9007199254740991'],
    ['EVM_CHAIN_ID', '0x1', 'a whole number from 1 to 9007199254740991'],
    ['EVM_TOKEN', '', 'the address of an ERC-20 token'],
    ['EVM_TOKEN', TOKEN.replace('d', 'D'), 'the address of an ERC-20 token'],
    ['EVM_TOKEN', TOKEN.slice(0, -1), 'the address of an ERC-20 token'],
    ['EVM_TOKEN_DECIMALS', '19', 'a whole number from 0 to 18'],
    ['EVM_EXPLORER_URL', 'http://scan.example', 'a URL that begins with https://'],
    ['EVM_TOKEN_SYMBOL', 'a\nb', '1 to 32 printable characters'],
    ['EVM_POLL_MS', '49', 'a whole number from 50 to 600000'],
    ['EVM_CONFIRMATIONS', '0', 'a whole number from 1 to 1000'],
    ['EVM_XPUB', 'seed words that are secret', 'an extended public key, which begins with xpub'],
    ['EVM_XPUB', 'xprv9s21ZrQH143K', 'no relay may hold it'],
  ])('%s = %p', (name, value, rule) => {
    const message = messageOf({ [name]: value })
    expect(message).toStartWith(`${name} must be `)
    expect(message).toContain(rule)
    if (value !== '' && !/^[0-9]$/.test(value)) expect(message).not.toContain(value)
  })
})
