// Reorganisations of a real chain: what fell away is taken back, what came instead is read, and final is final.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { startChain, type TestChain, type TestToken } from '../../../test/chain.ts'
import { type ChainShop, openChainShop, PRICE, until } from '../../../test/chain-shop.ts'
import { engines, type TestStore } from '../../../test/engines.ts'

const [sqlite] = engines
let chain: TestChain
let token: TestToken
let store: TestStore
let shop: ChainShop

beforeEach(async () => {
  if (!sqlite) throw new Error('there is no engine')
  chain = await startChain()
  token = await chain.deployToken(6)
  await chain.mine(10)
  store = await sqlite.open()
  shop = await openChainShop(store.storage, { EVM_RPC_URLS: chain.url, EVM_TOKEN: token.address })
})
afterEach(async () => {
  await shop.stop()
  await store.remove()
  await chain.stop()
})

/** The next block, which shows what the chain is now. */
async function readOn(blocks = 1): Promise<void> {
  await chain.mine(blocks)
  await shop.hasRead(await chain.height())
}

async function expectWholeMemory(): Promise<void> {
  const blocks = await shop.blocks('evm:31337')
  for (const { height, hash } of blocks) {
    const block = await chain.rpc<{ hash: string }>('eth_getBlockByNumber', [
      `0x${height.toString(16)}`,
      false,
    ])
    expect({ height, hash }).toEqual({ height, hash: block.hash })
  }
  expect(new Set(blocks.map(({ height }) => height)).size).toBe(blocks.length)
}

test('a payment that a reorganisation takes away counts for nothing', async () => {
  await shop.open()
  const order = await shop.order()
  await readOn(3)
  await token.pay(order.pay_to, PRICE)
  await readOn()
  expect(await shop.outcomes(order)).toEqual(['seen'])
  await chain.reorganise(2)
  await readOn(10)
  expect(await shop.outcomes(order)).toEqual(['gone'])
  expect(await shop.status(order)).toBe('pending')
  expect(shop.log).toMatchObject([
    { level: 'warn', event: 'chain_reorganised', count: 2, reason: 'evm:31337' },
  ])
  await expectWholeMemory()
})

test('a payment that a reorganisation moves to a later block counts once, from that block on', async () => {
  await shop.open()
  const order = await shop.order()
  const raw = await chain.rawTransaction(await token.pay(order.pay_to, PRICE))
  const first = await chain.height()
  await readOn()
  await chain.reorganise(2, [[raw, 1]])
  await chain.mine()
  await shop.hasRead(first + 2)
  expect(await shop.payments(order)).toMatchObject([{ state: 'seen', height: first + 1 }])
  expect(await shop.status(order)).toBe('pending')
  await readOn()
  expect(await shop.status(order)).toBe('confirmed')
  expect(await shop.outcomes(order)).toEqual(['counted'])
  await expectWholeMemory()
})

test('a payment that a reorganisation replaces is gone, and what replaces it counts', async () => {
  await shop.open()
  const order = await shop.order()
  await token.pay(order.pay_to, PRICE)
  await readOn()
  await chain.reorganise(2, [[token.payment(order.pay_to, PRICE + 1n), 0]])
  await readOn(3)
  expect(await shop.outcomes(order)).toEqual(['gone', 'counted over'])
  expect(await shop.status(order)).toBe('confirmed')
})

test('a reorganisation while the relay was away is noticed when it is back', async () => {
  await shop.open()
  const [lost, won] = [await shop.order(), await shop.order()]
  await token.pay(lost.pay_to, PRICE)
  await readOn()
  await shop.stop()
  await chain.reorganise(2, [[token.payment(won.pay_to, PRICE), 1]])
  await chain.mine(5)
  shop.again()
  await shop.start()
  await shop.hasRead(await chain.height())
  expect(await shop.outcomes(lost)).toEqual(['gone'])
  expect(await shop.status(won)).toBe('confirmed')
  await expectWholeMemory()
})

test('a reorganisation far below the head, found out after a long absence, is noticed too', async () => {
  await shop.open()
  const [lost, won] = [await shop.order(), await shop.order()]
  await token.pay(lost.pay_to, PRICE)
  await readOn()
  await shop.stop()
  await chain.reorganise(2, [[token.payment(won.pay_to, PRICE), 0]])
  await chain.mine(150) // Read by ranges, as nothing here can be reorganised any more.
  shop.again()
  await shop.start()
  await shop.hasRead(await chain.height())
  expect(await shop.outcomes(lost)).toEqual(['gone'])
  expect(await shop.status(won)).toBe('confirmed')
})

test('what was final stays, and is not paid twice where its block is made anew', async () => {
  shop.again({ EVM_CONFIRMATIONS: 2 })
  await shop.open()
  const [order, other] = [await shop.order(), await shop.order()]
  const raw = await chain.rawTransaction(await token.pay(order.pay_to, PRICE))
  await readOn(2)
  expect(await shop.status(order)).toBe('confirmed')
  // In its new block another comes first, so that it has another place there.
  const mover = `0x${'77'.repeat(20)}` as const
  await chain.rpc('anvil_setBalance', [mover, '0xde0b6b3a7640000'])
  await chain.rpc('anvil_impersonateAccount', [mover])
  await chain.reorganise(3, [
    [{ ...token.payment(other.pay_to, 0n), from: mover, nonce: '0x0' }, 0],
    [raw, 0],
  ])
  await readOn(4)
  const [payment, ...more] = await shop.payments(order)
  expect(more).toEqual([])
  expect(payment).toMatchObject({ state: 'final', outcome: 'counted' })
  expect(await shop.status(order)).toBe('confirmed')
})

test('a reorganisation deeper than anything remembered is reported, and nothing is left out', async () => {
  await shop.open()
  const order = await shop.order()
  const from = await chain.height()
  expect((await shop.blocks('evm:31337')).map(({ height }) => height)).toEqual([from])
  await chain.reorganise(4, [[token.payment(order.pay_to, PRICE), 1]])
  await readOn(2)
  await until('it is confirmed', async () => (await shop.status(order)) === 'confirmed')
  expect(shop.log).toMatchObject([{ level: 'error', event: 'chain_reorganised_beyond_memory' }])
  await expectWholeMemory()
})

test('the memory goes no further back than a reorganisation may', async () => {
  await shop.open()
  await readOn(150)
  await readOn(10)
  const blocks = await shop.blocks('evm:31337')
  expect(blocks.length).toBeLessThanOrEqual(65)
  expect(blocks.length).toBeGreaterThan(60)
  await expectWholeMemory()
})
