// Being paid on a real chain (anvil): what arrives is seen once, confirmed at its depth, and nothing else counts.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { startChain, startEndpoint, type TestChain, type TestToken } from '../../../test/chain.ts'
import { type ChainShop, openChainShop, PRICE, until } from '../../../test/chain-shop.ts'
import { engines, type TestStore } from '../../../test/engines.ts'

const [sqlite] = engines
let chain: TestChain
let token: TestToken
let store: TestStore
const opened: { stop(): Promise<void> }[] = []

beforeAll(async () => {
  chain = await startChain()
  token = await chain.deployToken(6)
})
afterAll(() => chain.stop())
beforeEach(async () => {
  if (!sqlite) throw new Error('there is no engine')
  store = await sqlite.open()
})
afterEach(async () => {
  for (const one of opened.splice(0)) await one.stop()
  await store.remove()
})

async function openShop(settings: Record<string, string | number> = {}): Promise<ChainShop> {
  const shop = await openChainShop(store.storage, {
    EVM_RPC_URLS: chain.url,
    EVM_TOKEN: token.address,
    ...settings,
  })
  opened.push({ stop: () => shop.stop() })
  return shop
}

async function openStartedShop(settings: Record<string, string | number> = {}): Promise<ChainShop> {
  const shop = await openShop(settings)
  await shop.open()
  return shop
}

describe('an order', () => {
  test('has an address of its own, the price in the smallest unit, and a link that wallets read', async () => {
    const shop = await openStartedShop({ EVM_NETWORK: 'Ethereum' })
    const [one, two] = [await shop.order(), await shop.order()]
    expect(one.pay_to).toMatch(/^0x[0-9a-fA-F]{40}$/)
    expect(two.pay_to).not.toBe(one.pay_to)
    expect(one).toMatchObject({ asset: `evm:31337/${token.address}`, amount: String(PRICE) })
    expect(shop.provider.unit).toEqual({ symbol: 'USDT', decimals: 6, network: 'Ethereum' })
    const uri = shop.provider.payUri({ payTo: one.pay_to, amount: PRICE })
    expect(uri.toLowerCase()).toBe(
      `ethereum:${token.address}@31337/transfer?address=${one.pay_to}&uint256=5000000`.toLowerCase(),
    )
  })

  test('costs whole units exactly, with 18 decimals as well', async () => {
    const fine = await chain.deployToken(18)
    const shop = await openStartedShop({ EVM_TOKEN: fine.address, EVM_TOKEN_DECIMALS: 18 })
    const order = { orderId: 'ord_x' as never, depositIndex: 7, price: 123_456_789, expiresAt: 0, title: '' }
    expect((await shop.provider.open(order)).amount).toBe(123_456_789_000_000_000_000_000_000n)
  })

  test('is not opened before the chain was reached', async () => {
    const endpoint = await startEndpoint(chain.url)
    opened.push(endpoint)
    await endpoint.down()
    const shop = await openShop({ EVM_RPC_URLS: endpoint.url })
    await expect(shop.order()).rejects.toMatchObject({ code: 'PAYMENTS_UNAVAILABLE' })
    await shop.start()
    await Bun.sleep(100)
    await expect(shop.order()).rejects.toMatchObject({ code: 'PAYMENTS_UNAVAILABLE' })
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
    ['the token has other decimals', { EVM_TOKEN_DECIMALS: 18 }, 'the token has 6, not 18'],
    ['there is no token', { EVM_TOKEN: `0x${'12'.repeat(20)}` }, 'there is no ERC-20 token'],
  ])('is not opened where %s, which is said once', async (_what, settings, reason) => {
    const shop = await openShop(settings)
    await shop.start()
    await until('it is said', () => shop.log.some(({ event }) => event === 'payment_token_wrong'))
    await Bun.sleep(200)
    const said = shop.log.filter(({ event }) => event === 'payment_token_wrong')
    expect(said).toHaveLength(1)
    expect(said[0]).toMatchObject({ level: 'error', reason: expect.stringContaining(reason) })
    await expect(shop.order()).rejects.toMatchObject({ code: 'PAYMENTS_UNAVAILABLE' })
  })

  test('opened while a block is on its way is found in that block', async () => {
    const endpoint = await startEndpoint(chain.url)
    opened.push(endpoint)
    const shop = await openStartedShop({ EVM_RPC_URLS: endpoint.url })
    let order: Awaited<ReturnType<ChainShop['order']>> | undefined
    endpoint.behave = async ({ method, params, pass }) => {
      if (method === 'eth_getBlockByNumber' && params[0] === 'latest' && !order) {
        order = await shop.order()
        await token.pay(order.pay_to, PRICE)
      }
      return await pass()
    }
    await until('the payment is seen', async () => !!order && (await shop.outcomes(order)).length === 1)
  })
})

describe('a payment', () => {
  test('is seen at once and counts when its block has its confirmations', async () => {
    const shop = await openStartedShop()
    const order = await shop.order()
    await token.pay(order.pay_to, PRICE)
    const height = await chain.height()
    await shop.hasRead(height)
    expect(await shop.outcomes(order)).toEqual(['seen'])
    expect(shop.provider.confirmations(height)).toEqual({ have: 1, need: 3 })
    await chain.mine()
    await shop.hasRead(height + 1)
    expect(await shop.status(order)).toBe('pending')
    await chain.mine()
    await shop.hasRead(height + 2)
    expect(await shop.status(order)).toBe('confirmed')
    expect(await shop.outcomes(order)).toEqual(['counted'])
    expect(shop.provider.confirmations(height)).toEqual({ have: 3, need: 3 })
  })

  test('has the time of its block', async () => {
    const shop = await openStartedShop()
    const order = await shop.order()
    await token.pay(order.pay_to, PRICE)
    await shop.hasRead(await chain.height())
    const block = await chain.rpc<{ timestamp: string }>('eth_getBlockByNumber', ['latest', false])
    expect(await shop.payments(order)).toMatchObject([{ at: Number(block.timestamp) * 1000 }])
    expect(shop.provider.seenUntil()).toBe(Number(block.timestamp) * 1000)
  })

  test('is one of its own for every order, where one transaction pays several', async () => {
    const shop = await openStartedShop({ EVM_CONFIRMATIONS: 1 })
    const orders = [await shop.order(), await shop.order(), await shop.order()]
    await token.payAll(
      [...orders, ...orders].map(({ pay_to }) => pay_to),
      PRICE / 2n,
    )
    await shop.hasRead(await chain.height())
    for (const order of orders) {
      expect(await shop.outcomes(order)).toEqual(['counted', 'counted'])
      expect(await shop.status(order)).toBe('confirmed')
    }
  })

  test('of nothing, and a collectible, are none', async () => {
    const shop = await openStartedShop({ EVM_CONFIRMATIONS: 1 })
    const order = await shop.order()
    await token.pay(order.pay_to, 0n)
    await token.emitCollectible(order.pay_to, PRICE)
    await shop.hasRead(await chain.height())
    expect(await shop.payments(order)).toEqual([])
    expect(shop.log).toEqual([])
  })

  test('in another token, or in the chain’s own coin, goes back', async () => {
    const shop = await openStartedShop({ EVM_CONFIRMATIONS: 1 })
    const other = await chain.deployToken(6)
    const order = await shop.order()
    await other.pay(order.pay_to, PRICE)
    await chain.send({ to: order.pay_to as `0x${string}`, value: '0xde0b6b3a7640000' })
    await shop.hasRead(await chain.height())
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

  test('on another chain goes back', async () => {
    const elsewhere = await startChain({ chainId: 31338 })
    opened.push(elsewhere)
    const other = await elsewhere.deployToken(6)
    const shop = await openStartedShop({ EVM_OTHER_RPC_URLS: elsewhere.url, EVM_CONFIRMATIONS: 1 })
    await until('the other chain is read', async () => (await shop.blocks('evm:31338')).length > 0)
    const order = await shop.order()
    await other.pay(order.pay_to, PRICE)
    await until('it is seen', async () => (await shop.payments(order)).length > 0)
    expect(await shop.payments(order)).toMatchObject([
      { scope: 'evm:31338', asset: `evm:31338/${other.address}`, reason: 'wrong_chain' },
    ])
    expect(await shop.status(order)).toBe('pending')
  })

  test('is found among a thousand addresses', async () => {
    const endpoint = await startEndpoint(chain.url)
    opened.push(endpoint)
    const shop = await openStartedShop({ EVM_RPC_URLS: endpoint.url, EVM_CONFIRMATIONS: 1 })
    const orders = await Promise.all(Array.from({ length: 1000 }, () => shop.order()))
    const most: number[] = []
    endpoint.behave = ({ method, params, pass }) => {
      if (method === 'eth_getLogs') most.push(params[0].topics[2].length)
      return pass()
    }
    const paid = [0, 199, 200, 777, 999].flatMap((index) => orders[index] ?? [])
    await token.payAll(
      paid.map(({ pay_to }) => pay_to),
      PRICE,
    )
    await shop.hasRead(await chain.height())
    for (const order of paid) expect(await shop.status(order)).toBe('confirmed')
    expect(await shop.storage.sql`SELECT id FROM payments`).toHaveLength(5)
    expect(Math.max(...most)).toBe(200)
  })
})
