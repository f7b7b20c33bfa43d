// A model of a chain with token transfers, for tests that need thousands of blocks, and JSON-RPC endpoints
// over real HTTP that show it, fail, or lie. (`chain.ts` runs a real chain.)
import { findFreePort } from './free-port.ts'

/** A transfer of tokens. It stays the same transfer in whatever block a reorganisation puts it. */
export interface ModelTransfer {
  readonly transaction: string
  readonly token: string
  readonly to: string
  readonly amount: bigint
}

interface ModelBlock {
  readonly height: number
  readonly hash: string
  readonly parentHash: string
  /** Seconds since 1970. */
  readonly at: number
  readonly transfers: readonly ModelTransfer[]
}

/** How an endpoint behaves. The last three are lies. */
export type Behaviour = 'honest' | 'down' | 'behind' | 'hides' | 'invents' | 'other chain' | 'too high'
/** The behaviours that are lies. */
export const LIES: readonly Behaviour[] = ['hides', 'invents', 'other chain', 'too high']

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
/** The selector of `balanceOf(address)` (ERC-20). */
const BALANCE_OF = '0x70a08231'
/** How many blocks an endpoint is behind. */
const BEHIND = 2
const TOO_HIGH = 1000
const OTHER_ID = 999

/** A chain. */
export class ModelChain {
  readonly chainId = 31337
  #blocks: ModelBlock[] = []
  #hashes = 0

  constructor(at: number) {
    this.#add([], at)
  }

  get head(): ModelBlock {
    return this.block(this.#blocks.length - 1) as ModelBlock
  }

  block(height: number): ModelBlock | undefined {
    return this.#blocks[height]
  }

  get blocks(): readonly ModelBlock[] {
    return this.#blocks
  }

  find(hash: string): ModelBlock | undefined {
    return this.#blocks.find((block) => block.hash === hash)
  }

  mine(transfers: readonly ModelTransfer[], at: number): void {
    this.#add(transfers, at)
  }

  /** Removes the newest blocks, but never the first. @returns the removed ones, the oldest first */
  remove(depth: number): ModelBlock[] {
    return this.#blocks.splice(Math.max(1, this.#blocks.length - depth))
  }

  #add(transfers: readonly ModelTransfer[], at: number): void {
    this.#hashes += 1
    const parentHash = this.#blocks.at(-1)?.hash ?? word(0)
    const hash = word(this.#hashes + 0x10_0000)
    this.#blocks.push({ height: this.#blocks.length, hash, parentHash, at, transfers })
  }
}

/** An endpoint that shows a chain. */
export interface ModelEndpoint {
  readonly url: string
  chain: ModelChain
  behaviour: Behaviour
  /** Called before each request is answered. */
  onRequest: (() => void) | undefined
  /** The transfer that it invents in each block it is asked about. */
  invented: ModelTransfer | undefined
  stop(): Promise<void>
}

/** Starts an endpoint. */
export async function startModelEndpoint(chain: ModelChain): Promise<ModelEndpoint> {
  const port = await findFreePort()
  const endpoint: ModelEndpoint = {
    ...{
      url: `http://127.0.0.1:${port}`,
      chain,
      behaviour: 'honest',
      onRequest: undefined,
      invented: undefined,
    },
    stop: async () => {
      await server.stop(true)
    },
  }
  const server = Bun.serve({
    ...{ hostname: '127.0.0.1', port },
    fetch: async (request) => {
      const { id, method, params } = (await request.json()) as {
        id: number
        method: string
        params: unknown[]
      }
      endpoint.onRequest?.()
      if (endpoint.behaviour === 'down') return new Response('down', { status: 503 })
      return Response.json({ jsonrpc: '2.0', id, result: answer(endpoint, method, params) })
    },
  })
  return endpoint
}

function answer(endpoint: ModelEndpoint, method: string, params: unknown[]): unknown {
  const { chain, behaviour } = endpoint
  const top = chain.head.height - (behaviour === 'behind' ? Math.min(BEHIND, chain.head.height) : 0)
  const shown = (block: ModelBlock | undefined): ModelBlock | undefined =>
    block && block.height <= top ? block : undefined
  switch (method) {
    case 'eth_chainId':
      return hex(behaviour === 'other chain' ? OTHER_ID : chain.chainId)
    case 'eth_getBlockByNumber': {
      const [height] = params
      if (height !== 'latest') return blockJson(shown(chain.block(Number(height))), endpoint)
      const newest = blockJson(shown(chain.block(top)), endpoint)
      if (behaviour !== 'too high') return newest
      return { ...newest, number: hex(top + TOO_HIGH), hash: word(0xdead) }
    }
    case 'eth_getBlockByHash':
      return blockJson(shown(chain.find(String(params[0]))), endpoint)
    case 'eth_getLogs':
      return logs(endpoint, params[0] as LogFilter, shown)
    case 'eth_call':
      return balance(endpoint, params as [{ to: string; data: string }, string], top)
    case 'eth_getTransactionReceipt':
      return null
    default:
      throw new Error(`the model has no ${method}`)
  }
}

function blockJson(block: ModelBlock | undefined, { behaviour }: ModelEndpoint) {
  if (!block) return null
  // The blocks of another chain have other hashes.
  const twist = (hash: string): string => (behaviour === 'other chain' ? `${hash.slice(0, -2)}ff` : hash)
  const { height, at } = block
  return {
    ...{ number: hex(height), hash: twist(block.hash), parentHash: twist(block.parentHash) },
    ...{ timestamp: hex(at), transactions: [] },
  }
}

interface LogFilter {
  readonly blockHash?: string
  readonly fromBlock?: string
  readonly toBlock?: string
  readonly address?: string | readonly string[]
  readonly topics: readonly [string, null?, (readonly string[] | string)?]
}

function logs(
  endpoint: ModelEndpoint,
  filter: LogFilter,
  shown: (block: ModelBlock | undefined) => ModelBlock | undefined,
): unknown[] {
  const { chain, behaviour, invented } = endpoint
  if (behaviour === 'hides' || behaviour === 'other chain') return []
  const inRange = ({ height, hash }: ModelBlock): boolean =>
    filter.blockHash === undefined
      ? height >= Number(filter.fromBlock) && height <= Number(filter.toBlock)
      : hash === filter.blockHash
  const tokens = filter.address === undefined ? undefined : [filter.address].flat()
  const receivers = filter.topics[2] === undefined ? undefined : [filter.topics[2]].flat()
  return chain.blocks
    .filter((block) => inRange(block) && shown(block))
    .flatMap((block) => {
      const lie = behaviour === 'invents' && invented ? [invented] : []
      return [...block.transfers, ...lie].map((transfer, index) => ({ block, transfer, index }))
    })
    .filter(({ transfer }) => tokens === undefined || tokens.includes(transfer.token))
    .filter(({ transfer }) => receivers === undefined || receivers.includes(paddedAddress(transfer.to)))
    .map(({ block, transfer, index }) => ({
      ...{ address: transfer.token, topics: [TRANSFER, word(1), paddedAddress(transfer.to)] },
      ...{ data: `0x${transfer.amount.toString(16).padStart(64, '0')}`, removed: false },
      ...{ blockNumber: hex(block.height), blockHash: block.hash },
      ...{ transactionHash: transfer.transaction, logIndex: hex(index) },
    }))
}

// What an address received, because nothing leaves an address here. An invented transfer is in every block.
function balance(
  { chain, behaviour, invented }: ModelEndpoint,
  [{ to: token, data }, at]: [{ to: string; data: string }, string],
  top: number,
): string {
  if (!data.startsWith(BALANCE_OF)) throw new Error(`the model has no call ${data}`)
  const height = at === 'latest' ? top : Math.min(top, Number(at))
  const blocks = chain.blocks.filter((block) => block.height <= height)
  const lies = behaviour === 'invents' && invented ? blocks.map(() => invented) : []
  const sum = [...blocks.flatMap(({ transfers }) => transfers), ...lies]
    .filter((each) => each.token === token && data.endsWith(paddedAddress(each.to).slice(2)))
    .reduce((total, { amount }) => total + amount, 0n)
  return `0x${sum.toString(16).padStart(64, '0')}`
}

/** A number as 32 bytes in hexadecimal digits. */
export function word(number: number): string {
  return `0x${number.toString(16).padStart(64, '0')}`
}

function paddedAddress(address: string): string {
  return `0x${address.slice(2).toLowerCase().padStart(64, '0')}`
}

function hex(number: number): string {
  return `0x${number.toString(16)}`
}
