// Payments in an ERC-20 stablecoin on any EVM chain, read over JSON-RPC, with a separate deposit address for
// every order.
import { setTimeout as pause } from 'node:timers/promises'
import { ProtocolError } from '@sotto/protocol'
import { getAddress } from 'viem/utils'
import type { Clock } from '../../operations/clock.ts'
import type { Log } from '../../operations/log.ts'
import type { RandomBytes } from '../../operations/random.ts'
import type { Storage } from '../../storage/storage.ts'
import type { Confirmations, Destination, Ledger, OrderToOpen, PaymentProvider, Unit } from '../provider.ts'
import { ChainReader } from './evm-chain-reader.ts'
import type { EvmConfig } from './evm-config.ts'
import { ChainUnreachable, Rpc } from './evm-rpc.ts'

interface Parts {
  readonly storage: Storage
  readonly clock: Clock
  readonly randomBytes: RandomBytes
  readonly log: Log
  /** How often the chain is read. */
  readonly pollMs: number
}

/** A chain without a new block for this long is reported; no healthy chain pauses so long. */
const STALLED_AFTER_MS = 600_000

/** The provider `evm`. */
export class EvmPayments implements PaymentProvider {
  readonly name = 'evm'
  readonly unit: Unit
  readonly #config: EvmConfig
  readonly #parts: Parts
  readonly #asset: string
  readonly #stopping = new AbortController()
  readonly #loops: Promise<void>[] = []
  #reader: ChainReader | undefined
  #isTokenRight = false
  #loggedTokenProblem: string | undefined

  constructor(config: EvmConfig, parts: Parts) {
    this.#config = config
    this.#parts = parts
    this.#asset = `evm:${config.chainId}/${config.token}`
    this.unit = { symbol: config.symbol, decimals: config.decimals, network: config.network }
  }

  /**
   * @throws ProtocolError `PAYMENTS_UNAVAILABLE` until the chain was read and the token matches the settings
   */
  async open({ depositIndex, price }: OrderToOpen): Promise<Destination> {
    // Without a position, the reader could start after the block that pays for this order.
    if (!this.#isTokenRight || !this.#reader?.position) throw new ProtocolError('PAYMENTS_UNAVAILABLE')
    const { deposits, decimals } = this.#config
    return {
      payTo: deposits.at(depositIndex),
      asset: this.#asset,
      amount: BigInt(price) * 10n ** BigInt(decimals),
    }
  }

  /** A payment URI (EIP-681). */
  payUri({ payTo, amount }: { readonly payTo: string; readonly amount: bigint }): string {
    const { token, chainId } = this.#config
    return `ethereum:${getAddress(token)}@${chainId}/transfer?address=${payTo}&uint256=${amount}`
  }

  /** Resolves without waiting for the chain, which may not be reachable now. Call it only once. */
  async start(ledger: Ledger): Promise<void> {
    const { chainId, token, rpcUrls, otherRpcUrls, confirmations } = this.#config
    const { storage, log } = this.#parts
    const shared = { ledger, storage, log, provider: this.name, confirmations }
    const rpc = this.#rpcOf(rpcUrls, { chainId })
    const reader = new ChainReader({ ...shared, rpc, token })
    await reader.resume(`evm:${chainId}`)
    this.#reader = reader
    this.#poll(reader, rpcUrls, async () => {
      // Until the token was checked no order is opened, but payments for earlier orders are read.
      if (!this.#isTokenRight) await this.#checkToken(rpc)
    })
    for (const url of otherRpcUrls) {
      const other = this.#rpcOf([url], { chainId: undefined, notChainId: chainId })
      this.#poll(new ChainReader({ ...shared, rpc: other, token: undefined }), [url])
    }
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await Promise.all(this.#loops)
  }

  /** The time of the newest block that was read. It stands still while the chain cannot be read. */
  seenUntil(): number {
    return this.#reader?.position?.at ?? 0
  }

  confirmations(height: number): Confirmations {
    const newest = this.#reader?.position?.height ?? 0
    return { have: Math.max(0, newest - height + 1), need: this.#config.confirmations }
  }

  #rpcOf(urls: readonly string[], which: { chainId: number | undefined; notChainId?: number }): Rpc {
    const { clock, randomBytes, log, pollMs } = this.#parts
    const stopping = this.#stopping.signal
    return new Rpc(urls, { clock, randomBytes, log, stopping, restMs: pollMs, ...which })
  }

  #poll(reader: ChainReader, urls: readonly string[], before?: () => Promise<void>): void {
    const { clock, log, pollMs } = this.#parts
    const { signal } = this.#stopping
    const url = urls.map((each) => new URL(each).host).join(' ')
    let movedAt = clock.monotonic()
    let height: number | undefined
    let isStalled = false
    const round = async (): Promise<void> => {
      try {
        await before?.()
        await reader.read(signal)
      } catch (error) {
        // The problems of each endpoint were logged already.
        if (!(error instanceof ChainUnreachable || signal.aborted)) log.error('chain_unread', { url, error })
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

  async #checkToken(rpc: Rpc): Promise<void> {
    const { token, decimals } = this.#config
    const found = await rpc.ask(async (chain) => ({ decimals: await chain.decimals(token) }))
    if (!found) return
    this.#isTokenRight = found.decimals === decimals
    if (this.#isTokenRight) return
    const wrong =
      found.decimals === undefined
        ? { setting: 'EVM_TOKEN', reason: 'at this address there is no ERC-20 token' }
        : { setting: 'EVM_TOKEN_DECIMALS', reason: `the token has ${found.decimals}, not ${decimals}` }
    if (this.#loggedTokenProblem !== wrong.reason) this.#parts.log.error('payment_token_wrong', wrong)
    this.#loggedTokenProblem = wrong.reason
  }
}
