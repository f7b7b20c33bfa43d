// How much of a token an address really received in a block. A token that takes a fee may report the gross
// amount in its event, and an endpoint may invent an event. Balances show what arrived.
import { type Block, type EvmRpcRequests, NotAvailable, RequestTooLarge } from './evm-rpc-requests.ts'

/** Transfers of one token to one address in one block. */
interface Receipt {
  readonly token: string
  /** In lower case. */
  readonly to: string
  /** The sum that the events name. */
  readonly gross: bigint
  readonly block: Block
}

/**
 * How much of `gross` arrived.
 *
 * It is what the balance grew by in the block, and what left the address in the same block. An endpoint may
 * not have the state of an old block any more. Then it is what the address has now, and what left it since:
 * the operator may have collected it. Then earlier money at the same address hides a fee.
 * @param isOld whether the endpoint may not have the state of the block any more
 * @throws NotAvailable
 */
export async function received(
  chain: EvmRpcRequests,
  { token, to, gross, block }: Receipt,
  isOld: boolean,
): Promise<bigint> {
  const { height } = block
  const parts = isOld ? 'blocks' : undefined
  let grown: bigint
  let last = height
  try {
    const after = await chain.balance(token, to, height, parts)
    grown = after - (await chain.balance(token, to, Math.max(0, height - 1), parts))
  } catch (error) {
    if (!(error instanceof RequestTooLarge)) throw error
    last = (await chain.head()).height
    grown = await chain.balance(token, to, 'latest')
  }
  const arrived = grown >= gross ? grown : grown + (await sent(chain, { token, to }, height, last))
  // Balances are asked for by height, so the block must still be the same.
  if ((await chain.block(height)).hash !== block.hash) throw new NotAvailable()
  if (arrived <= 0n) return 0n
  return arrived < gross ? arrived : gross
}

// In as many requests as the endpoint needs.
async function sent(
  chain: EvmRpcRequests,
  of: { token: string; to: string },
  from: number,
  to: number,
): Promise<bigint> {
  try {
    return await chain.sent(of.token, of.to, { from, to })
  } catch (error) {
    if (!(error instanceof RequestTooLarge)) throw error
    if (from >= to) throw new NotAvailable()
    const middle = Math.floor((from + to) / 2)
    return (await sent(chain, of, from, middle)) + (await sent(chain, of, middle + 1, to))
  }
}
