// What the deposit addresses of one EVM chain hold, for the operator's comparison of the books with the
// chain.
import { ProtocolError } from '@sotto/protocol'
import type { Holding } from '../provider.ts'
import { ChainUnreachable, type Rpc } from './evm-rpc.ts'
import { RequestTooLarge } from './evm-rpc-requests.ts'

/** A token of the chain, and what it is called as an asset. */
export interface HeldToken {
  /** In lower case. */
  readonly address: string
  readonly asset: string
}

const WIDEST_RANGE = 2000

/**
 * What the addresses held of each token after a block.
 * @throws ProtocolError `PAYMENTS_UNAVAILABLE` if no endpoint can tell
 */
export async function readHoldings(
  rpc: Rpc,
  {
    tokens,
    addresses,
    height,
  }: { tokens: readonly HeldToken[]; addresses: readonly string[]; height: number },
): Promise<Holding[]> {
  const holdings: Holding[] = []
  for (const { address, asset } of tokens) {
    for (const payTo of addresses) {
      const answer = await orUnavailable(
        rpc.ask((chain) => chain.balance(address, payTo.toLowerCase(), height)),
      )
      holdings.push({ payTo, asset, balance: answer })
    }
  }
  return holdings
}

/**
 * How much of a token left an address, from one block to another.
 * @throws ProtocolError `PAYMENTS_UNAVAILABLE` if no endpoint can tell
 */
export async function readMovedOut(
  rpc: Rpc,
  { token, payTo, from, to }: { token: string; payTo: string; from: number; to: number },
): Promise<bigint> {
  let sum = 0n
  let width = WIDEST_RANGE
  for (let first = from; first <= to; ) {
    const last = Math.min(to, first + width - 1)
    try {
      const where = { from: first, to: last }
      sum += await orUnavailable(rpc.ask((chain) => chain.sent(token, payTo.toLowerCase(), where)))
      first = last + 1
      width = Math.min(WIDEST_RANGE, width * 2)
    } catch (error) {
      if (!(error instanceof RequestTooLarge) || last === first) throw error
      width = Math.ceil((last - first + 1) / 2)
    }
  }
  return sum
}

async function orUnavailable<T>(answer: Promise<T | undefined>): Promise<T> {
  try {
    const value = await answer
    if (value !== undefined) return value
  } catch (error) {
    if (!(error instanceof ChainUnreachable)) throw error
  }
  throw new ProtocolError('PAYMENTS_UNAVAILABLE')
}
