// The file of further EVM chains and tokens that orders can be paid on and in. The operator edits it.
import { readFileSync } from 'node:fs'
import * as v from 'valibot'
import type { Address } from 'viem'
import { isAddress } from 'viem/utils'
import { SettingError } from '../../operations/setting-error.ts'
import { explorerTemplateOf } from './explorer.ts'

/** A token that orders can be paid in. */
export interface EvmToken {
  /** In lower case. */
  readonly address: Address
  readonly symbol: string
  readonly decimals: number
}

/** A chain that orders can be paid on. */
export interface EvmChain {
  readonly chainId: number
  readonly network: string
  /** Endpoints of the chain; they may hold credentials. */
  readonly rpcUrls: readonly string[]
  readonly confirmations: number
  /** How many endpoints must agree on a payment before it is final. */
  readonly agree: number
  /** The address of a transaction's page in an explorer, with `{transaction}` in place of its hash. */
  readonly explorerUrl: string | undefined
  /** At least one. */
  readonly tokens: readonly EvmToken[]
}

const MOST_CHAINS = 20
const MOST_TOKENS = 20

function wholeNumber(min: number, max: number) {
  const rule = `must be a whole number from ${min} to ${max}`
  return v.pipe(v.number(rule), v.safeInteger(rule), v.minValue(min, rule), v.maxValue(max, rule))
}
const Short = v.pipe(
  v.string('must be a text'),
  v.regex(/^\P{C}{1,32}$/u, 'must be 1 to 32 printable characters'),
)
const RPC_RULE = 'must be a URL that begins with https:// or http://'
const RpcUrl = v.pipe(
  v.string(RPC_RULE),
  v.check((text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol), RPC_RULE),
)
const EXPLORER_RULE = 'must be a URL that begins with https://, which may contain {transaction}'
const ExplorerUrl = v.pipe(
  v.string(EXPLORER_RULE),
  v.check((text) => explorerTemplateOf(text) !== undefined, EXPLORER_RULE),
  v.transform((text) => explorerTemplateOf(text) ?? text),
)
const ADDRESS_RULE = 'must be the address of an ERC-20 token, 0x and 40 hexadecimal digits'
const TokenAddress = v.pipe(
  v.string(ADDRESS_RULE),
  v.check((text) => tokenAddressOf(text) !== undefined, ADDRESS_RULE),
  v.transform((text): Address => tokenAddressOf(text) ?? '0x'),
)

const Token = v.strictObject({ address: TokenAddress, symbol: Short, decimals: wholeNumber(0, 18) })
const Tokens = v.pipe(
  v.array(Token, 'must be a list of tokens'),
  v.minLength(1, 'must contain at least one token'),
  v.maxLength(MOST_TOKENS, `must contain at most ${MOST_TOKENS} tokens`),
  v.check((list) => areDifferent(list.map(({ address }) => address)), 'must not contain a token twice'),
)
const Chain = v.pipe(
  v.strictObject({
    chain_id: wholeNumber(1, Number.MAX_SAFE_INTEGER),
    network: Short,
    rpc_urls: v.pipe(v.array(RpcUrl, 'must be a list of URLs'), v.minLength(1, 'must contain a URL')),
    confirmations: v.optional(wholeNumber(1, 1000), 12),
    agree: v.optional(wholeNumber(1, 100)),
    explorer_url: v.optional(ExplorerUrl),
    tokens: Tokens,
  }),
  v.check(
    ({ agree, rpc_urls }) => agree === undefined || agree <= countHosts(rpc_urls),
    'must have at least as many endpoints as must agree',
  ),
  v.transform(
    ({ chain_id, rpc_urls, explorer_url, agree, ...rest }): EvmChain => ({
      ...{ ...rest, chainId: chain_id, rpcUrls: rpc_urls, explorerUrl: explorer_url },
      agree: agree ?? usualAgree(rpc_urls),
    }),
  ),
)
const Chains = v.pipe(
  v.array(Chain, 'must be a list of chains'),
  v.minLength(1, 'must contain at least one chain'),
  v.maxLength(MOST_CHAINS, `must contain at most ${MOST_CHAINS} chains`),
)

/**
 * The chains in a file. @throws SettingError that names the file, the place in it and the rule, but never a
 * value, because URLs of endpoints may hold credentials
 */
export function readChainsFile(setting: string, file: string): readonly EvmChain[] {
  const { success, issues, output } = v.safeParse(Chains, jsonIn(setting, file))
  if (success) return output
  const [issue] = issues
  const place = v.getDotPath(issue)
  // For a member that is missing or unknown, the library's text quotes the input.
  const rule = /^must /.test(issue.message) ? issue.message : 'must be there, and nothing unknown besides it'
  throw new SettingError(setting, `a file of chains, but ${place ? `${place} in ${file}` : file} ${rule}`)
}

/** The number of endpoints that can contradict each other: those of one host count once. */
export function countHosts(rpcUrls: readonly string[]): number {
  return new Set(rpcUrls.map((url) => new URL(url).host)).size
}

/** How many endpoints must agree unless it is set: two, or one if there is only one. */
export function usualAgree(rpcUrls: readonly string[]): number {
  return Math.min(2, countHosts(rpcUrls))
}

/** A token's address in lower case; undefined if it is none. */
export function tokenAddressOf(text: string): Address | undefined {
  // An address in one case is accepted as it is. Mixed case is a checksum (EIP-55), which must be right.
  const isOneCase = /^0x(?:[0-9a-f]{40}|[0-9A-F]{40})$/.test(text)
  const lower = text.toLowerCase()
  return (isOneCase || isAddress(text)) && isAddress(lower) ? lower : undefined
}

function jsonIn(setting: string, file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    const reason = error instanceof SyntaxError ? 'is not valid JSON' : 'cannot be read'
    throw new SettingError(setting, `a file of chains, but ${file} ${reason}`)
  }
}

function areDifferent(texts: readonly string[]): boolean {
  return new Set(texts).size === texts.length
}
