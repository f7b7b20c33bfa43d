// Payments on a real chain (anvil): each payment is seen once and confirmed at its depth, and nothing else
// counts.
import { describe, expect, test } from 'bun:test'
import { getAddress } from 'viem/utils'
import { failureOf } from '../../../../protocol/test/failure-of.ts'
import { startChain, startEndpoint } from '../../../test/chain.ts'
import { aMethod, type ChainShop, PRICE, until } from '../../../test/chain-shop.ts'
import { useChain } from '../../../test/chain-world.ts'

const world = useChain()

describe('an order', () => {
  test('has a unique address, the price in the smallest unit, and a payment URI', async () => {
    const shop = await world.openStartedShop({ EVM_NETWORK: 'Ethereum' })
    const [one, two] = [await shop.order(), await shop.order()]
    expect(one.pay_to).toMatch(/^0x[0-9a-fA-F]{40}$/)
    expect(two.pay_to).not.toBe(one.pay_to)
    expect(one).toMatchObject({ asset: `evm:31337/${world.token.address}`, amount: String(PRICE) })
    const { asset } = one
    const contract = getAddress(world.token.address)
    expect(shop.provider.methods).toEqual([
      { asset, contract, symbol: 'USDT', decimals: 6, network: 'Ethereum' },
    ])
    const uri = shop.provider.payUri({ payTo: one.pay_to, asset, amount: PRICE })
    expect(uri.toLowerCase()).toBe(
      `ethereum:${world.token.address}@31337/transfer?address=${one.pay_to}&uint256=5000000`.toLowerCase(),
    )
  })

  test('costs whole units exactly, with 18 decimals as well', async () => {
    const fine = await world.chain.deployToken(18)
    const shop = await world.openStartedShop({ EVM_TOKEN: fine.address, EVM_TOKEN_DECIMALS: 18 })
    const order = { orderId: 'ord_x' as never, depositIndex: 7, price: 123_456_789, expiresAt: 0, title: '' }
    expect((await shop.provider.open(order, aMethod(shop.provider))).amount).toBe(
      123_456_789_000_000_000_000_000_000n,
    )
  })

  test('is not opened before the relay has read the chain', async () => {
    const endpoint = await startEndpoint(world.chain.url)
    world.opened.push(endpoint)
    await endpoint.down()
    const shop = await world.openShop({ EVM_RPC_URLS: endpoint.url })
    expect(await failureOf(shop.order())).toMatchObject({ code: 'PAYMENTS_UNAVAILABLE' })
    await shop.start()
    await Bun.sleep(100)
    expect(await failureOf(shop.order())).toMatchObject({ code: 'PAYMENTS_UNAVAILABLE' })
    expect(shop.provider.seenUntil()).toBe(0)
    await endpoint.up()
    await until('an order can be opened', () =>
      shop.order().then(
        () => true,
        () => false,
      ),
    )
    expect(shop.provider.seenUntil()).toBeGreaterThan(0)
  })

  test.each([
    ['the token has other decimals', { EVM_TOKEN_DECIMALS: 18 }, 'the token has 6 decimals, not 18'],
    ['there is no token', { EVM_TOKEN: `0x${'12'.repeat(20)}` }, 'there is no ERC-20 token'],
  ])('is not opened if %s, which is logged once', async (_what, settings, reason) => {
    const shop = await world.openShop(settings)
    await shop.start()
    await until('the wrong token is logged', () =>
      shop.log.some(({ event }) => event === 'payment_token_wrong'),
    )
    await Bun.sleep(200)
    const logged = shop.log.filter(({ event }) => event === 'payment_token_wrong')
    expect(logged).toHaveLength(1)
    expect(logged[0]).toMatchObject({ level: 'error', reason: expect.stringContaining(reason) })
    expect(await failureOf(shop.order())).toMatchObject({ code: 'PAYMENTS_UNAVAILABLE' })
  })

  test('that is opened while a block is being mined is paid in that block', async () => {
    const endpoint = await startEndpoint(world.chain.url)
    world.opened.push(endpoint)
    const shop = await world.openStartedShop({ EVM_RPC_URLS: endpoint.url })
    let order: Awaited<ReturnType<ChainShop['order']>> | undefined
    endpoint.behave = async ({ method, params, pass }) => {
      if (method === 'eth_getBlockByNumber' && params[0] === 'latest' && !order) {
        order = await shop.order()
        await world.token.pay(order.pay_to, PRICE)
      }
      return await pass()
    }
    await until('the payment is seen', async () => !!order && (await shop.outcomes(order)).length === 1)
  })
})

describe('a payment', () => {
  test('is seen at once and counts when its block has its confirmations', async () => {
    const shop = await world.openStartedShop()
    const order = await shop.order()
    await world.token.pay(order.pay_to, PRICE)
    const height = await world.chain.height()
    await shop.hasRead(height)
    expect(await shop.outcomes(order)).toEqual(['seen'])
    expect(shop.provider.confirmations(height)).toEqual({ have: 1, need: 3 })
    await world.chain.mine()
    await shop.hasRead(height + 1)
    expect(await shop.status(order)).toBe('pending')
    await world.chain.mine()
    await shop.hasRead(height + 2)
    expect(await shop.status(order)).toBe('confirmed')
    expect(await shop.outcomes(order)).toEqual(['counted'])
    expect(shop.provider.confirmations(height)).toEqual({ have: 3, need: 3 })
  })

  test('has the time of its block', async () => {
    const shop = await world.openStartedShop()
    const order = await shop.order()
    await world.token.pay(order.pay_to, PRICE)
    await shop.hasRead(await world.chain.height())
    const block = await world.chain.rpc<{ timestamp: string }>('eth_getBlockByNumber', ['latest', false])
    expect(await shop.payments(order)).toMatchObject([{ at: Number(block.timestamp) * 1000 }])
    expect(shop.provider.seenUntil()).toBe(Number(block.timestamp) * 1000)
  })

  test('is separate for each order if one transaction pays several', async () => {
    const shop = await world.openStartedShop({ EVM_CONFIRMATIONS: 1 })
    const orders = [await shop.order(), await shop.order(), await shop.order()]
    await world.token.payAll(
      [...orders, ...orders].map(({ pay_to }) => pay_to),
      PRICE / 2n,
    )
    await shop.hasRead(await world.chain.height())
    for (const order of orders) {
      expect(await shop.outcomes(order)).toEqual(['counted', 'counted'])
      expect(await shop.status(order)).toBe('confirmed')
    }
  })

  test('of amount zero, or of a collectible, is ignored', async () => {
    const endpoint = await startEndpoint(world.chain.url)
    world.opened.push(endpoint)
    const shop = await world.openStartedShop({ EVM_RPC_URLS: endpoint.url, EVM_CONFIRMATIONS: 1 })
    const order = await shop.order()
    await world.token.pay(order.pay_to, 0n)
    await world.token.emitCollectible(order.pay_to, PRICE)
    await shop.hasRead(await world.chain.height())
    expect(await shop.payments(order)).toEqual([])
    expect(endpoint.asked.filter((method) => method === 'eth_getLogs')).toHaveLength(
      (await shop.blocks('evm:31337')).length - 2, // The first two were not searched.
    )
    expect(shop.log).toEqual([])
  })

  test('in another token, or in the chain’s own coin, is recorded for refund', async () => {
    const shop = await world.openStartedShop({ EVM_CONFIRMATIONS: 1 })
    const other = await world.chain.deployToken(6)
    const order = await shop.order()
    await other.pay(order.pay_to, PRICE)
    await world.chain.send({ to: order.pay_to as `0x${string}`, value: '0xde0b6b3a7640000' })
    await shop.hasRead(await world.chain.height())
    expect(await shop.payments(order)).toMatchObject([
      {
        asset: `evm:31337/${other.address}`,
        outcome: 'refund',
        reason: 'wrong_token',
        amount: String(PRICE),
      },
      { asset: 'evm:31337/native', outcome: 'refund', reason: 'wrong_token', amount: String(10n ** 18n) },
    ])
    expect(await shop.status(order)).toBe('pending')
  })

  test('is found among many worthless tokens', async () => {
    const shop = await world.openStartedShop({ EVM_CONFIRMATIONS: 1 })
    const worthless = await world.chain.deployToken(6)
    const order = await shop.order()
    await worthless.payAll(
      Array.from({ length: 50 }, () => order.pay_to),
      PRICE,
    )
    await worthless.payAll(
      Array.from({ length: 50 }, () => order.pay_to),
      PRICE,
    )
    await world.token.pay(order.pay_to, PRICE)
    await shop.hasRead(await world.chain.height())
    expect(await shop.status(order)).toBe('confirmed')
    const outcomes = await shop.outcomes(order)
    expect(outcomes.filter((outcome) => outcome === 'refund wrong_token')).toHaveLength(20)
    expect(outcomes.at(-1)).toBe('counted')
    expect(outcomes).toHaveLength(21)
  })

  test('on another chain is recorded for refund', async () => {
    const elsewhere = await startChain({ chainId: 31338 })
    world.opened.push(elsewhere)
    const other = await elsewhere.deployToken(6)
    const shop = await world.openStartedShop({ EVM_OTHER_RPC_URLS: elsewhere.url, EVM_CONFIRMATIONS: 1 })
    await until('the other chain is read', async () => (await shop.blocks('evm:31338')).length > 0)
    const order = await shop.order()
    await other.pay(order.pay_to, PRICE)
    await until('the payment is recorded', async () => (await shop.payments(order)).length > 0)
    expect(await shop.payments(order)).toMatchObject([
      { scope: 'evm:31338', asset: `evm:31338/${other.address}`, reason: 'wrong_chain' },
    ])
    expect(await shop.status(order)).toBe('pending')
  })

  test('is found among a thousand addresses', async () => {
    const endpoint = await startEndpoint(world.chain.url)
    world.opened.push(endpoint)
    const shop = await world.openStartedShop({ EVM_RPC_URLS: endpoint.url, EVM_CONFIRMATIONS: 1 })
    const orders = await Promise.all(Array.from({ length: 1000 }, () => shop.order()))
    const most: number[] = []
    endpoint.behave = ({ method, params, pass }) => {
      if (method === 'eth_getLogs' && !params[0].address) most.push(params[0].topics[2].length)
      return pass()
    }
    const paid = [0, 199, 200, 777, 999].flatMap((index) => orders[index] ?? [])
    await world.token.payAll(
      paid.map(({ pay_to }) => pay_to),
      PRICE,
    )
    await shop.hasRead(await world.chain.height())
    for (const order of paid) expect(await shop.status(order)).toBe('confirmed')
    expect(await shop.storage.sql`SELECT id FROM payments`).toHaveLength(5)
    expect(Math.max(...most)).toBe(200)
  })
})
