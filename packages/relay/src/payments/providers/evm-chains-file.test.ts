// The file of further chains: accepted contents, and errors that name the file, the place and the rule
// without the value.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { XPUB } from '../../../test/chain-shop.ts'
import { SettingError } from '../../operations/setting-error.ts'
import { paymentSettings } from '../payment-settings.ts'
import { type EvmConfig, evmConfigOf } from './evm-config.ts'

const USDT = '0xdAC17F958D2ee523a2206206994597C13D831ec7'
const USDC = `0x${'ab'.repeat(20)}`
const TOKEN = { address: USDC, symbol: 'USDC', decimals: 18 }
const CHAIN = {
  ...{ chain_id: 10, network: 'Optimism', rpc_urls: ['https://op.example/secret'], tokens: [TOKEN] },
}

let folder: string
let file: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sotto-chains-'))
  file = join(folder, 'chains.json')
})
afterAll(() => rm(folder, { recursive: true, force: true }))

async function read(content: unknown, changed: Record<string, string> = {}): Promise<EvmConfig> {
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content))
  const given: Record<string, string> = { EVM_CHAINS_FILE: file, EVM_XPUB: XPUB, ...changed }
  return evmConfigOf((name) => given[name] ?? paymentSettings[name].default)
}

async function messageOf(content: unknown, changed?: Record<string, string>): Promise<string> {
  try {
    await read(content, changed)
  } catch (error) {
    if (error instanceof SettingError) return error.message
    throw error
  }
  return 'it was accepted'
}

const SETTINGS = { EVM_RPC_URLS: 'https://one.example', EVM_TOKEN: USDT }

test('adds its chains after that of the settings, or replaces it', async () => {
  const optimism = {
    ...{ chainId: 10, network: 'Optimism', rpcUrls: ['https://op.example/secret'], confirmations: 12 },
    ...{ explorerUrl: undefined, tokens: [TOKEN] },
  }
  expect((await read([CHAIN], SETTINGS)).chains).toMatchObject([{ chainId: 1 }, optimism])
  expect((await read([CHAIN])).chains).toMatchObject([optimism])
})

test('an explorer is a template, or its transactions are at /tx/', async () => {
  const explorerOf = async (explorer_url: string) =>
    (await read([{ ...CHAIN, explorer_url }])).chains[0]?.explorerUrl
  expect(await explorerOf('https://scan.example/')).toBe('https://scan.example/tx/{transaction}')
  expect(await explorerOf('https://scan.example/#/t/{transaction}?x')).toBe(
    'https://scan.example/#/t/{transaction}?x',
  )
})

describe('an error names the file, the place and the rule', () => {
  const token = (change: object) => [{ ...CHAIN, tokens: [{ ...TOKEN, ...change }] }]
  test.each([
    ['no JSON', '[{', ' is not valid JSON'],
    ['no list', {}, ' must be a list of chains'],
    ['an empty list', [], ' must contain at least one chain'],
    ['no id', [{ ...CHAIN, chain_id: '10' }], '0.chain_id in FILE must be a whole number from 1 to'],
    [
      'an endpoint',
      [{ ...CHAIN, rpc_urls: ['wss://key'] }],
      '0.rpc_urls.0 in FILE must be a URL that begins',
    ],
    ['no endpoint', [{ ...CHAIN, rpc_urls: [] }], '0.rpc_urls in FILE must contain a URL'],
    [
      'depth',
      [{ ...CHAIN, confirmations: 0 }],
      '0.confirmations in FILE must be a whole number from 1 to 1000',
    ],
    [
      'explorer',
      [{ ...CHAIN, explorer_url: 'http://scan' }],
      '0.explorer_url in FILE must be a URL that begins with https',
    ],
    ['no token', [{ ...CHAIN, tokens: [] }], '0.tokens in FILE must contain at least one token'],
    [
      'a token twice',
      [{ ...CHAIN, tokens: [TOKEN, { ...TOKEN, address: USDC.toUpperCase().replace('X', 'x') }] }],
      '0.tokens in FILE must not contain a token twice',
    ],
    ['decimals', token({ decimals: 19 }), '0.tokens.0.decimals in FILE must be a whole number from 0 to 18'],
    [
      'an address',
      token({ address: USDT.replace('d', 'D') }),
      '0.tokens.0.address in FILE must be the address',
    ],
    ['a symbol', token({ symbol: 'a\nb' }), '0.tokens.0.symbol in FILE must be 1 to 32 printable characters'],
    [
      'something unknown',
      [{ ...CHAIN, rpc_url: 'https://secret' }],
      '0.rpc_url in FILE must be there, and nothing unknown',
    ],
    [
      'a missing member',
      [{ ...CHAIN, network: undefined }],
      '0.network in FILE must be there, and nothing unknown',
    ],
  ])('%s', async (_what, content, rule) => {
    const message = await messageOf(content)
    expect(message).toStartWith('EVM_CHAINS_FILE must be a file of chains, but ')
    expect(message).toContain(file)
    expect(message).toContain(rule.replace('FILE', file))
    expect(message).not.toMatch(/secret|key/)
  })

  test('a file that is not there', async () => {
    const missing = { EVM_CHAINS_FILE: join(folder, 'none.json') }
    expect(await messageOf([], missing)).toContain('none.json cannot be read')
  })

  test('a chain that is set twice', async () => {
    expect(await messageOf([CHAIN, CHAIN])).toContain('chain 10 is set twice')
    expect(await messageOf([{ ...CHAIN, chain_id: 1 }], SETTINGS)).toContain('chain 1 is set twice')
  })
})
