// Endpoints that lie: a payment is final, and an order expires, only as far as enough endpoints agree.
import { describe, expect, test } from 'bun:test'
import type { Endpoint } from '../../../test/chain.ts'
import { headTooHigh, hiddenLogs, inventedBlocks, inventedTransfer } from '../../../test/chain-lies.ts'
import { type ChainShop, type EvmSettings, PRICE, until } from '../../../test/chain-shop.ts'
import { useChain } from '../../../test/chain-world.ts'
import { listChains } from '../chain-store.ts'

const world = useChain()

/** A shop that uses these endpoints and needs two confirmations. */
function openShop(endpoints: readonly Endpoint[], settings: EvmSettings = {}): Promise<ChainShop> {
  const urls = endpoints.map(({ url }) => url).join(',')
  return world.openStartedShop({ EVM_RPC_URLS: urls, EVM_CONFIRMATIONS: 2, ...settings })
}

const hostOf = ({ url }: Endpoint): string => new URL(url).host

async function troubleOf({ storage }: ChainShop) {
  const [chain] = await listChains(storage)
  return chain?.trouble && { kind: chain.trouble, hosts: chain.troubleHosts }
}

const isLogged = (shop: ChainShop, event: string): boolean => shop.log.some((line) => line.event === event)

/** Waits until every one of the endpoints was asked about more blocks. */
async function roundsPass(...endpoints: readonly Endpoint[]): Promise<void> {
  const before = endpoints.map(({ asked }) => asked.length)
  await until('the endpoints are asked again', () =>
    endpoints.every(({ asked }, at) => asked.length > (before[at] ?? 0) + 12),
  )
}

describe('of two endpoints', () => {
  test.each([false, true])(
    'one that hides events lets no paid order expire (falsified blooms: %p)',
    async (bloom) => {
      const [liar, honest] = [await world.openEndpoint(), await world.openEndpoint()]
      const shop = await openShop([liar, honest])
      const order = await shop.order()
      liar.behave = hiddenLogs({ bloom })
      await world.chain.rpc('evm_increaseTime', [60])
      await world.token.pay(order.pay_to, PRICE)
      const paidAt = await world.chain.rpc<{ timestamp: string }>('eth_getBlockByNumber', ['latest', false])
      await world.chain.mine(5)
      await until('the disagreement is logged', () => isLogged(shop, 'chain_endpoints_disagree'))
      expect(shop.provider.seenUntil()).toBeLessThan(Number(paidAt.timestamp) * 1000)
      expect(await shop.status(order)).toBe('pending')
      expect(await troubleOf(shop)).toEqual({ kind: 'disagree', hosts: `${hostOf(liar)} ${hostOf(honest)}` })
      liar.behave = undefined
      await until('the order is confirmed', async () => (await shop.status(order)) === 'confirmed')
      await until('the trouble is over', async () => (await troubleOf(shop)) === undefined)
      expect(await shop.outcomes(order)).toEqual(['counted'])
    },
  )

  test('one that invents a payment confirms nothing, and both are named', async () => {
    const [liar, honest] = [await world.openEndpoint(), await world.openEndpoint()]
    const shop = await openShop([liar, honest])
    const order = await shop.order()
    const height = (await world.chain.height()) + 1
    liar.behave = inventedTransfer(world.chain, world.token, { to: order.pay_to, amount: PRICE }, height)
    await world.chain.mine(6)
    await until('the disagreement is logged', () => isLogged(shop, 'chain_endpoints_disagree'))
    await roundsPass(liar, honest)
    expect(await shop.status(order)).toBe('pending')
    expect(shop.log).toMatchObject([
      { level: 'error', url: `${hostOf(liar)} ${hostOf(honest)}`, reason: 'evm:31337' },
    ])
    liar.behave = undefined
    await until('the trouble is over', async () => (await troubleOf(shop)) === undefined)
    expect(await shop.outcomes(order)).not.toContain('counted')
    expect(await shop.status(order)).toBe('pending')
  })

  test('if one is down, payments are seen and wait, which is said once', async () => {
    const [first, second] = [await world.openEndpoint(), await world.openEndpoint()]
    const shop = await openShop([first, second])
    const order = await shop.order()
    await second.down()
    await world.token.pay(order.pay_to, PRICE)
    await world.chain.mine(4)
    await until('the payment is seen', async () => (await shop.outcomes(order)).length === 1)
    await until('the wait is logged', () => isLogged(shop, 'chain_endpoints_few'))
    expect(await troubleOf(shop)).toEqual({ kind: 'few', hosts: hostOf(second) })
    await world.chain.mine(4)
    await shop.hasRead(await world.chain.height())
    await roundsPass(first)
    expect(await shop.outcomes(order)).toEqual(['seen'])
    expect(shop.log.filter(({ event }) => event === 'chain_endpoints_few')).toHaveLength(1)
    await second.up()
    await until('the order is confirmed', async () => (await shop.status(order)) === 'confirmed')
    await until('the trouble is over', async () => (await troubleOf(shop)) === undefined)
  })

  test('one that is always some blocks behind delays a payment, but prevents none', async () => {
    const [good, late] = [await world.openEndpoint(), await world.openEndpoint()]
    const shop = await openShop([good, late], { EVM_CONFIRMATIONS: 1 })
    late.behave = async ({ method, params, pass, result }) => {
      if (method !== 'eth_getBlockByNumber') return await pass()
      const newest = (await world.chain.height()) - 3
      const height = params[0] === 'latest' ? newest : Number(params[0])
      if (height > newest) return result(null)
      return result(await world.chain.rpc('eth_getBlockByNumber', [`0x${height.toString(16)}`, false]))
    }
    const order = await shop.order()
    await world.token.pay(order.pay_to, PRICE)
    await world.chain.mine(2)
    await shop.hasRead(await world.chain.height())
    expect(await shop.outcomes(order)).toEqual(['seen'])
    await world.chain.mine()
    await until('the order is confirmed', async () => (await shop.status(order)) === 'confirmed')
  })

  test('the second is hardly asked while no address is watched', async () => {
    const [first, second] = [await world.openEndpoint(), await world.openEndpoint()]
    const shop = await openShop([first, second])
    const before = second.asked.length
    for (let blocks = 0; blocks < 20; blocks++) {
      await world.chain.mine()
      await shop.hasRead(await world.chain.height())
    }
    // Only for newer blocks, when the first endpoint has none.
    const asked = second.asked.slice(before)
    expect(asked.filter((method) => method === 'eth_getLogs')).toEqual([])
  })

  test('another one is asked if a block shows no events where its header says there may be some', async () => {
    const [liar, honest] = [await world.openEndpoint(), await world.openEndpoint()]
    const shop = await openShop([liar, honest], { EVM_AGREE: 1 })
    const order = await shop.order()
    liar.behave = hiddenLogs()
    await world.token.pay(order.pay_to, PRICE)
    await world.chain.mine(2)
    await until('the order is confirmed', async () => (await shop.status(order)) === 'confirmed')
    expect(shop.log).toEqual([])
  })

  test('a header that falsely says that there may be events delays nothing', async () => {
    const [first, second] = [await world.openEndpoint(), await world.openEndpoint()]
    const shop = await openShop([first, second], { EVM_AGREE: 1 })
    await shop.order()
    for (const endpoint of [first, second]) {
      endpoint.behave = async ({ method, pass, result }) => {
        const answer = await pass()
        if (method !== 'eth_getBlockByNumber') return answer
        const { result: block } = await answer.json()
        return result(block && { ...block, logsBloom: `0x${'ff'.repeat(256)}` })
      }
    }
    await world.chain.mine(5)
    await shop.hasRead(await world.chain.height())
  })

  test('one whose newest block is far too high does not stop the reading', async () => {
    const [liar, honest] = [await world.openEndpoint(), await world.openEndpoint()]
    const shop = await openShop([liar, honest])
    const order = await shop.order()
    liar.behave = headTooHigh(1000)
    await world.token.pay(order.pay_to, PRICE)
    await world.chain.mine(3)
    await until('the order is confirmed', async () => (await shop.status(order)) === 'confirmed')
    expect(shop.log).toMatchObject([{ level: 'warn', event: 'rpc_head_without_blocks', url: hostOf(liar) }])
  })

  test('one that invents blocks above the newest gives a payment no confirmations', async () => {
    const [liar, honest] = [await world.openEndpoint(), await world.openEndpoint()]
    const shop = await openShop([liar, honest], { EVM_CONFIRMATIONS: 12 })
    const order = await shop.order()
    liar.behave = inventedBlocks(world.chain, 200)
    await world.token.pay(order.pay_to, PRICE)
    await until('the payment is seen', async () => (await shop.outcomes(order)).length === 1)
    await roundsPass(liar, honest)
    await roundsPass(liar, honest)
    expect(await shop.outcomes(order)).toEqual(['seen'])
    await world.chain.mine(11)
    await until('the order is confirmed', async () => (await shop.status(order)) === 'confirmed')
  })
})

describe('of three endpoints', () => {
  test.each(['hides', 'invents'])('the two that agree are believed if the first %s payments', async (how) => {
    const liar = await world.openEndpoint()
    const shop = await openShop([liar, await world.openEndpoint(), await world.openEndpoint()])
    const [order, other] = [await shop.order(), await shop.order()]
    const height = (await world.chain.height()) + 1
    liar.behave =
      how === 'hides'
        ? hiddenLogs({ bloom: true })
        : inventedTransfer(world.chain, world.token, { to: other.pay_to, amount: PRICE }, height)
    await world.token.pay(order.pay_to, PRICE)
    await world.chain.mine(5)
    await until('the order is confirmed', async () => (await shop.status(order)) === 'confirmed')
    expect(await shop.status(other)).toBe('pending')
    expect(await shop.outcomes(other)).not.toContain('counted')
    const contradicted = shop.log.filter(({ event }) => event === 'rpc_endpoint_contradicts')
    expect(contradicted).toMatchObject([{ url: hostOf(liar) }])
    expect(await troubleOf(shop)).toBeUndefined()
    liar.behave = undefined
    await world.chain.mine()
    await until('the endpoint is believed again', () => isLogged(shop, 'rpc_endpoint_agrees'))
  })
})
