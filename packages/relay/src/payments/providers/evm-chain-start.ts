// Finds the block from which a chain is read: the first time, or again because the operator wants it.
import type { Position } from '../chain-store.ts'
import { agreeing } from './evm-agreement.ts'
import { ChainUnreachable, type Rpc } from './evm-rpc.ts'
import { type Block, type EvmRpcRequests, NotAvailable } from './evm-rpc-requests.ts'

/** Where to start. */
interface Start {
  readonly position: Block
  /** A block so far below that a reorganisation does not reach it. */
  readonly older: Block
  /** Whether the chain has the block up to which it was read before. */
  readonly isKnown: boolean
}

/**
 * Asks for the blocks to start at.
 * @param options.height the block to start at; by default the newest that enough endpoints have
 * @param options.before the block up to which the chain was read before, if it was
 * @returns undefined if too few endpoints agree
 * @throws ChainUnreachable
 */
export async function findStart(
  rpc: Rpc,
  options: { agree: number; depth: number; before: Position | undefined; height: number | undefined },
): Promise<Start | undefined> {
  const { agree, depth, before } = options
  const height = options.height ?? (await findCommonHead(rpc, agree))
  if (height === undefined) return undefined
  const answers = await rpc.askEach(
    async (chain) => ({
      older: await chain.block(Math.max(0, height - depth)),
      position: await chain.block(height),
      isKnown: !before || (await hasBlock(chain, before)),
    }),
    () => false,
  )
  if (answers.length === 0) throw new ChainUnreachable()
  const keyOf = ({ position, older, isKnown }: Start) => `${position.hash} ${older.hash} ${isKnown}`
  return agreeing(answers, keyOf, agree)?.value
}

async function findCommonHead(rpc: Rpc, agree: number): Promise<number | undefined> {
  const heads = await rpc.askEach(
    (chain) => chain.head(),
    () => false,
  )
  if (heads.length === 0) throw new ChainUnreachable()
  const heights = heads.flatMap(({ value }) => (value ? [value.height] : []))
  return heights.toSorted((a, b) => b - a)[agree - 1]
}

async function hasBlock(chain: EvmRpcRequests, { height, hash }: Position): Promise<boolean> {
  try {
    return (await chain.block(height)).hash === hash
  } catch (error) {
    if (error instanceof NotAvailable) return false
    throw error
  }
}
