// Lies that an endpoint in front of a real chain can tell: each answers requests in the endpoint's place.
import type { Endpoint, Passing, TestChain, TestToken } from './chain.ts'

/** Answers a request; see {@link Endpoint}. */
export type Lie = NonNullable<Endpoint['behave']>

/** Where it is told. */
interface Told {
  /** An address that receives. */
  readonly to: string
  readonly amount: bigint
}

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const NO_BLOOM = `0x${'00'.repeat(256)}`

/** There are no logs. With `bloom`, the headers of blocks say the same. */
export function hiddenLogs({ bloom = false }: { bloom?: boolean } = {}): Lie {
  return async ({ method, pass, result }) => {
    if (method === 'eth_getLogs') return result([])
    const answer = await pass()
    if (!bloom || !method.startsWith('eth_getBlockBy')) return answer
    const { result: block } = await answer.json()
    return result(block && { ...block, logsBloom: NO_BLOOM })
  }
}

/** A block contains a transfer of the token to an address, whose balance says so too. */
export function inventedTransfer(
  chain: TestChain,
  token: TestToken,
  { to, amount }: Told,
  height: number,
): Lie {
  const log = async () => {
    const block = await blockOf(chain, height)
    return {
      ...{ address: token.address, blockNumber: hex(height), blockHash: block.hash, logIndex: '0x63' },
      topics: [TRANSFER, wordOf(chain.payer), wordOf(to)],
      ...{ data: hex(amount, 64), transactionHash: `0x${'ab'.repeat(32)}`, transactionIndex: '0x0' },
      removed: false,
    }
  }
  return async (request) => {
    const { method, params, pass, result } = request
    if (
      method === 'eth_call' &&
      params[0].data.endsWith(wordOf(to).slice(2)) &&
      Number(params[1]) >= height
    ) {
      const { result: balance } = await (await pass()).json()
      return result(hex(BigInt(balance) + amount, 64))
    }
    if (method !== 'eth_getLogs') return await pass()
    const { result: logs } = await (await pass()).json()
    const invented = await log()
    const isAsked =
      'blockHash' in params[0]
        ? params[0].blockHash === invented.blockHash
        : Number(params[0].fromBlock) <= height && height <= Number(params[0].toBlock)
    return result(isAsked ? [...logs, invented] : logs)
  }
}

/** The newest block is `excess` blocks higher than it is. The endpoint has none of those blocks. */
export function headTooHigh(excess: number): Lie {
  return async ({ method, params, pass, result }) => {
    const answer = await pass()
    if (method !== 'eth_getBlockByNumber' || params[0] !== 'latest') return answer
    const { result: block } = await answer.json()
    return result({ ...block, number: hex(Number(block.number) + excess), hash: `0x${'cd'.repeat(32)}` })
  }
}

/** Above the newest block there are `excess` more, all empty. */
export function inventedBlocks(chain: TestChain, excess: number): Lie {
  return async ({ method, params, pass, result }) => {
    const real = await chain.height()
    const [first, second] = params
    const blockAt = async (height: number): Promise<object> => {
      const newest = await chain.rpc<object>('eth_getBlockByNumber', [hex(real), false])
      const parentHash = height === real + 1 ? (await blockOf(chain, real)).hash : inventedHash(height - 1)
      return { ...newest, number: hex(height), hash: inventedHash(height), parentHash, logsBloom: NO_BLOOM }
    }
    const isAbove = (height: unknown): boolean => Number(height) > real
    if (method === 'eth_getBlockByNumber') {
      const height = first === 'latest' ? real + excess : Number(first)
      return height > real ? result(height <= real + excess ? await blockAt(height) : null) : await pass()
    }
    if (method === 'eth_getBlockByHash' && isInvented(first))
      return result(await blockAt(Number(`0x${first.slice(-8)}`)))
    if (method === 'eth_getLogs' && (isInvented(first.blockHash) || isAbove(first.fromBlock)))
      return result([])
    if (method === 'eth_getLogs' && isAbove(first.toBlock))
      return result(await chain.rpc(method, [{ ...first, toBlock: hex(real) }]))
    if (method === 'eth_call' && isAbove(second)) return result(await chain.rpc(method, [first, hex(real)]))
    return await pass()
  }
}

function inventedHash(height: number): string {
  return `0x${'cd'.repeat(28)}${hex(height).slice(2).padStart(8, '0')}`
}

function isInvented(hash: unknown): boolean {
  return typeof hash === 'string' && hash.startsWith(`0x${'cd'.repeat(28)}`)
}

/** The newest blocks, from a height on, were replaced by others with the same content. */
export function otherBranch(from: number): Lie {
  return async ({ method, pass, result }) => {
    const answer = await pass()
    if (!method.startsWith('eth_getBlockBy')) return answer
    const { result: block } = await answer.json()
    if (!block) return result(block)
    const twist = (hash: string): string => `${hash.slice(0, -4)}beef`
    const height = Number(block.number)
    const hash = height >= from ? twist(block.hash) : block.hash
    const parentHash = height > from ? twist(block.parentHash) : block.parentHash
    return result({ ...block, hash, parentHash })
  }
}

/** Answers as a node of another chain does. */
export function otherChain(chain: TestChain): Lie {
  return async ({ method, params, result }: Passing) => result(await chain.rpc(method, params))
}

async function blockOf(chain: TestChain, height: number): Promise<{ hash: string }> {
  return await chain.rpc('eth_getBlockByNumber', [hex(height), false])
}

function wordOf(address: string): string {
  return `0x${address.slice(2).toLowerCase().padStart(64, '0')}`
}

function hex(number: number | bigint, digits = 1): string {
  return `0x${number.toString(16).padStart(digits, '0')}`
}
