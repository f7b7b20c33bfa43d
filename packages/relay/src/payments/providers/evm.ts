// Payments in an ERC-20 stablecoin on any EVM chain, read over JSON-RPC, with a separate deposit address for
// every order.
import { setTimeout as pause } from 'node:timers/promises'
import { ProtocolError } from '@sotto/protocol'
import { getAddress } from 'viem/utils'
import type { Clock } from '../../operations/clock.ts'
import type { Log } from '../../operations/log.ts'
import type { RandomBytes } from '../../operations/random.ts'
import { TurnOver } from '../../operations/turns.ts'
import type { Storage } from '../../storage/storage.ts'
import type {
  Confirmations,
  Destination,
  Holdings,
  Ledger,
  OrderToOpen,
  PaymentMethod,
  PaymentProvider,
} from '../provider.ts'
import { ChainReader } from './evm-chain-reader.ts'
import type { EvmChain, EvmToken } from './evm-chains-file.ts'
import type { EvmConfig } from './evm-config.ts'
import { readHoldings, readMovedOut } from './evm-holdings.ts'
import { ChainUnreachable, Rpc } from './evm-rpc.ts'
import { explorerPageOf } from './explorer.ts'

interface Parts {
  readonly storage: Storage
  readonly clock: Clock
  readonly randomBytes: RandomBytes
  readonly log: Log
}

/** The configuration for one chain. */
interface ChainConfig extends EvmChain, Omit<EvmConfig, 'chains'> {
  /** The chains that endpoints of other chains must not serve. */
  readonly notChainIds: readonly number[]
}

/** A chain without a new block for this long is reported; no healthy chain pauses so long. */
const STALLED_AFTER_MS = 600_000

/** The providers of all chains. Their orders share the deposit addresses; each chain is read on its own. */
export function createEvmPayments({ chains, ...shared }: EvmConfig, parts: Parts): EvmPayments[] {
  const notChainIds = chains.map(({ chainId }) => chainId)
  return chains.map((chain, at) => {
    // One of them watches the other chains for all.
    const otherRpcUrls = at === 0 ? shared.otherRpcUrls : []
    return new EvmPayments({ ...shared, ...chain, otherRpcUrls, notChainIds }, parts)
  })
}

/** The provider `evm` on one chain. */
class EvmPayments implements PaymentProvider {
  readonly name = 'evm'
  readonly methods: readonly PaymentMethod[]
  readonly #config: ChainConfig
  readonly #parts: Parts
  readonly #stopping = new AbortController()
  readonly #loops: Promise<void>[] = []
  #reader: ChainReader | undefined
  #holdingsRpc: Rpc | undefined
  #isFollowing = false
  /** Whether the last round could read the chain. */
  #isReadable = false
  /** The tokens that match the settings. */
  readonly #rightTokens = new Set<string>()
  readonly #loggedTokenProblems = new Map<string, string>()

  constructor(config: ChainConfig, parts: Parts) {
    this.#config = config
    this.#parts = parts
    this.methods = config.tokens.map(({ address, symbol, decimals }) => ({
      ...{ asset: this.#assetOf(address), symbol, decimals, network: config.network },
      contract: getAddress(address),
    }))
  }

  /** Whether the chain can be read and the token matches the settings. */
  isAvailable({ asset }: PaymentMethod): boolean {
    return this.#isReadable && this.#canOpen(asset)
  }

  /**
   * @throws ProtocolError `PAYMENTS_UNAVAILABLE` until the chain was read and the token matches the settings
   */
  async open({ depositIndex, price }: OrderToOpen, { asset, decimals }: PaymentMethod): Promise<Destination> {
    if (!this.#canOpen(asset)) throw new ProtocolError('PAYMENTS_UNAVAILABLE')
    const payTo = this.#config.deposits.at(depositIndex)
    return { payTo, asset, amount: BigInt(price) * 10n ** BigInt(decimals) }
  }

  /** A payment URI (EIP-681). */
  payUri({ payTo, asset, amount }: Pick<Destination, 'payTo' | 'asset' | 'amount'>): string {
    const { chainId, tokens } = this.#config
    const token = tokens.find(({ address }) => this.#assetOf(address) === asset)
    if (!token) throw new Error('the asset is not of this chain')
    return `ethereum:${getAddress(token.address)}@${chainId}/transfer?address=${payTo}&uint256=${amount}`
  }

  /** Resolves without waiting for the chain, which may not be reachable now. Call it only once. */
  async start(ledger: Ledger): Promise<void> {
    const { rpcUrls, otherRpcUrls, notChainIds } = this.#config
    const { reader, rpc } = this.#open(ledger)
    await reader.resume(`evm:${this.#config.chainId}`)
    this.#poll(reader, rpcUrls, {
      // Until a token was checked no order is opened in it, but payments for earlier orders are read.
      before: () => this.#checkTokens(rpc),
      after: (isReadable) => {
        this.#isReadable = isReadable
      },
    })
    for (const url of otherRpcUrls) {
      const other = this.#rpcOf([url], { chainId: undefined, notChainIds })
      this.#poll(new ChainReader({ ...this.#readerParts(ledger), rpc: other, agree: 1, tokens: [] }), [url])
    }
  }

  /** Reads the position and the trouble that the node which reads the chain has stored. */
  async follow(ledger: Ledger): Promise<void> {
    const { reader, rpc } = this.#open(ledger)
    const { signal } = this.#stopping
    const rounds = async (): Promise<void> => {
      while (!signal.aborted) {
        try {
          await this.#checkTokens(rpc)
          await reader.resume(`evm:${this.#config.chainId}`)
          this.#isReadable = reader.storedTrouble === undefined
        } catch (error) {
          this.#isReadable = false
          if (!(error instanceof ChainUnreachable || signal.aborted))
            this.#parts.log.error('chain_unread', { error })
        }
        // stop() ends it early.
        await pause(this.#config.pollMs, undefined, { signal }).catch(() => undefined)
      }
    }
    this.#isFollowing = true
    this.#loops.push(rounds())
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await Promise.all(this.#loops)
  }

  /**
   * The time of the newest block that was read, and on which enough endpoints agree. It stands still while
   * the chain cannot be read.
   */
  seenUntil(): number {
    return this.#reader?.seenUntil ?? 0
  }

  transactionPage(transaction: string): string | undefined {
    return explorerPageOf(this.#config.explorerUrl, transaction)
  }

  async holdings(addresses: readonly string[]): Promise<Holdings> {
    const height = this.#reader?.position?.height
    if (height === undefined) throw new ProtocolError('PAYMENTS_UNAVAILABLE')
    const tokens = this.#config.tokens.map(({ address }) => ({ address, asset: this.#assetOf(address) }))
    return { height, holdings: await readHoldings(this.#operatorsRpc, { tokens, addresses, height }) }
  }

  async movedOut(what: {
    payTo: string
    asset: string
    from: number
    to: number | undefined
  }): Promise<bigint> {
    const { asset, to = this.#reader?.position?.height } = what
    const token = this.#config.tokens.find(({ address }) => this.#assetOf(address) === asset)?.address
    if (token === undefined || to === undefined) throw new ProtocolError('PAYMENTS_UNAVAILABLE')
    return await readMovedOut(this.#operatorsRpc, { ...what, token, to })
  }

  confirmations(height: number): Confirmations {
    const newest = this.#reader?.position?.height ?? 0
    return { have: Math.max(0, newest - height + 1), need: this.#config.confirmations }
  }

  // Apart from the endpoints that the reader uses, because each answers one request at a time.
  get #operatorsRpc(): Rpc {
    const { rpcUrls, chainId } = this.#config
    this.#holdingsRpc ??= this.#rpcOf(rpcUrls, { chainId })
    return this.#holdingsRpc
  }

  #assetOf(token: string): string {
    return `evm:${this.#config.chainId}/${token}`
  }

  // Without a position, the reader could start after the block that pays for an order.
  #canOpen(asset: string): boolean {
    const reader = this.#reader
    const isStopped = this.#isFollowing ? reader?.storedTrouble === 'stopped' : reader?.isStopped
    return this.#rightTokens.has(asset) && reader?.position !== undefined && !isStopped
  }

  #rpcOf(
    urls: readonly string[],
    which: { chainId: number | undefined; notChainIds?: readonly number[] },
  ): Rpc {
    const { clock, randomBytes, log } = this.#parts
    const stopping = this.#stopping.signal
    return new Rpc(urls, { clock, randomBytes, log, stopping, restMs: this.#config.pollMs, ...which })
  }

  #poll(
    reader: ChainReader,
    urls: readonly string[],
    { before, after }: { before?: () => Promise<void>; after?: (isReadable: boolean) => void } = {},
  ): void {
    const { clock, log } = this.#parts
    const { pollMs } = this.#config
    const { signal } = this.#stopping
    const url = urls.map((each) => new URL(each).host).join(' ')
    let movedAt = clock.monotonic()
    let height: number | undefined
    let isStalled = false
    const round = async (): Promise<void> => {
      try {
        await before?.()
        await reader.read(signal)
        after?.(true)
      } catch (error) {
        after?.(false)
        // The problems of each endpoint were logged already.
        const isKnown = error instanceof ChainUnreachable || error instanceof TurnOver
        if (!(isKnown || signal.aborted)) log.error('chain_unread', { url, error })
      }
      if (reader.position?.height !== height) {
        height = reader.position?.height
        movedAt = clock.monotonic()
        isStalled = false
      } else if (!isStalled && clock.monotonic() - movedAt > STALLED_AFTER_MS) {
        isStalled = true
        log.error('chain_stands_still', { url, durationMs: STALLED_AFTER_MS })
      }
    }
    const rounds = async (): Promise<void> => {
      while (!signal.aborted) {
        await round()
        await pause(pollMs, undefined, { signal }).catch(() => undefined) // stop() ends the pause early.
      }
    }
    this.#loops.push(rounds())
  }

  #readerParts(ledger: Ledger) {
    const { storage, clock, log } = this.#parts
    return { ledger, storage, clock, log, provider: this.name, confirmations: this.#config.confirmations }
  }

  #open(ledger: Ledger): { reader: ChainReader; rpc: Rpc } {
    const { chainId, tokens, rpcUrls, agree } = this.#config
    const rpc = this.#rpcOf(rpcUrls, { chainId })
    const addresses = tokens.map(({ address }) => address)
    const reader = new ChainReader({ ...this.#readerParts(ledger), rpc, agree, tokens: addresses })
    this.#reader = reader
    return { reader, rpc }
  }

  async #checkTokens(rpc: Rpc): Promise<void> {
    for (const token of this.#config.tokens)
      if (!this.#rightTokens.has(this.#assetOf(token.address))) await this.#checkToken(rpc, token)
  }

  async #checkToken(rpc: Rpc, { address, decimals }: EvmToken): Promise<void> {
    const found = await rpc.ask(async (chain) => ({ decimals: await chain.decimals(address) }))
    if (!found) return
    const asset = this.#assetOf(address)
    if (found.decimals === decimals) {
      this.#rightTokens.add(asset)
      return
    }
    const reason =
      found.decimals === undefined
        ? `${asset}: at this address there is no ERC-20 token`
        : `${asset}: the token has ${found.decimals} decimals, not ${decimals}`
    if (this.#loggedTokenProblems.get(asset) !== reason)
      this.#parts.log.error('payment_token_wrong', { reason })
    this.#loggedTokenProblems.set(asset, reason)
  }
}
