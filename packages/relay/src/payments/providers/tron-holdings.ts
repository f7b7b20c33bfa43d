// What TRON deposit addresses hold, for the operator's comparison of the books with the chain.
import { ProtocolError } from '@sotto/protocol'
import type { Holding } from '../provider.ts'
import { Unreachable } from './bounded-request.ts'
import type { TronEndpoints } from './tron-endpoints.ts'

/**
 * What the addresses hold of the token now.
 * @param endpoints a set of its own, because a set runs one round at a time
 * @throws ProtocolError `PAYMENTS_UNAVAILABLE` if too few endpoints answer or agree
 */
export function readHoldings(
  endpoints: TronEndpoints,
  { token, asset, addresses }: { token: string; asset: string; addresses: readonly string[] },
): Promise<Holding[]> {
  return inRound(endpoints, async () => {
    const holdings: Holding[] = []
    for (const payTo of addresses) {
      holdings.push({ payTo, asset, balance: await endpoints.balanceOf(token, payTo, 'newest') })
    }
    return holdings
  })
}

/**
 * How much of the token ever left an address.
 * @throws ProtocolError `PAYMENTS_UNAVAILABLE` if too few endpoints answer or agree
 */
export function readMovedOut(
  endpoints: TronEndpoints,
  { token, payTo }: { token: string; payTo: string },
): Promise<bigint> {
  return inRound(endpoints, () => endpoints.sumFrom(token, payTo, 'newest'))
}

async function inRound<T>(endpoints: TronEndpoints, read: () => Promise<T>): Promise<T> {
  try {
    await endpoints.begin()
    const found = await read()
    await endpoints.end()
    return found
  } catch (error) {
    throw error instanceof Unreachable ? new ProtocolError('PAYMENTS_UNAVAILABLE') : error
  }
}
