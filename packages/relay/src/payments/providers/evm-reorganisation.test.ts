// Reorganisations of a real chain: removed payments are retracted, new blocks are read, and final payments
// stay final.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { startChain, startEndpoint, type TestChain, type TestToken } from '../../../test/chain.ts'
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

/** Mines blocks and waits until the relay has read them. */
async function mineAndRead(blocks = 1): Promise<void> {
  await chain.mine(blocks)
  await shop.hasRead(await chain.height())
}

async function expectStoredBlocksOnChain(): Promise<void> {
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

test('a payment that a reorganisation removes does not count', async () => {
  await shop.open()
  const order = await shop.order()
  await mineAndRead(3)
  await token.pay(order.pay_to, PRICE)
  await mineAndRead()
  expect(await shop.outcomes(order)).toEqual(['seen'])
  await chain.reorganise(2)
  await mineAndRead(10)
  expect(await shop.outcomes(order)).toEqual(['gone'])
  expect(await shop.status(order)).toBe('pending')
  expect(shop.log).toMatchObject([
    { level: 'warn', event: 'chain_reorganised', count: 2, reason: 'evm:31337' },
  ])
  await expectStoredBlocksOnChain()
})

test('a payment that a reorganisation moves to a later block counts once, with that block’s confirmations', async () => {
  await shop.open()
  const order = await shop.order()
  const raw = await chain.rawTransaction(await token.pay(order.pay_to, PRICE))
  const first = await chain.height()
  await mineAndRead()
  await chain.reorganise(2, [[raw, 1]])
  await chain.mine()
  await shop.hasRead(first + 2)
  expect(await shop.payments(order)).toMatchObject([{ state: 'seen', height: first + 1 }])
  expect(await shop.status(order)).toBe('pending')
  await mineAndRead()
  expect(await shop.status(order)).toBe('confirmed')
  expect(await shop.outcomes(order)).toEqual(['counted'])
  await expectStoredBlocksOnChain()
})

test('a payment that a reorganisation replaces is retracted, and the replacing payment counts', async () => {
  await shop.open()
  const order = await shop.order()
  await token.pay(order.pay_to, PRICE)
  await mineAndRead()
  await chain.reorganise(2, [[token.payment(order.pay_to, PRICE + 1n), 0]])
  await mineAndRead(3)
  // Payments are sorted by the time of their blocks, and a replacing block may have an earlier time than the
  // replaced one.
  const byAmount = (await shop.payments(order)).toSorted((a, b) =>
    Number(BigInt(a.amount) - BigInt(b.amount)),
  )
  expect(byAmount.map(({ amount, state, outcome, reason }) => ({ amount, state, outcome, reason }))).toEqual([
    { amount: String(PRICE), state: 'gone', outcome: null, reason: null },
    { amount: String(PRICE + 1n), state: 'final', outcome: 'counted', reason: 'over' },
  ])
  expect(await shop.status(order)).toBe('confirmed')
})

test('a reorganisation that happens while the relay is stopped is noticed after its start', async () => {
  await shop.open()
  const [lost, won] = [await shop.order(), await shop.order()]
  await token.pay(lost.pay_to, PRICE)
  await mineAndRead()
  await shop.stop()
  await chain.reorganise(2, [[token.payment(won.pay_to, PRICE), 1]])
  await chain.mine(5)
  shop.again()
  await shop.start()
  await shop.hasRead(await chain.height())
  expect(await shop.outcomes(lost)).toEqual(['gone'])
  expect(await shop.status(won)).toBe('confirmed')
  await expectStoredBlocksOnChain()
})

test('a reorganisation far below the head is noticed after a long absence', async () => {
  await shop.open()
  const [lost, won] = [await shop.order(), await shop.order()]
  await token.pay(lost.pay_to, PRICE)
  await mineAndRead()
  await shop.stop()
  await chain.reorganise(2, [[token.payment(won.pay_to, PRICE), 0]])
  await chain.mine(150) // These are read in ranges, because they are too deep to be reorganised.
  shop.again()
  await shop.start()
  await shop.hasRead(await chain.height())
  expect(await shop.outcomes(lost)).toEqual(['gone'])
  expect(await shop.status(won)).toBe('confirmed')
})

test('a final payment stays final, and counts once if its block is replaced', async () => {
  const mover = `0x${'77'.repeat(20)}` as const
  await chain.rpc('anvil_setBalance', [mover, '0xde0b6b3a7640000'])
  await chain.rpc('anvil_impersonateAccount', [mover])
  await chain.mine()
  shop.again({ EVM_CONFIRMATIONS: 2 })
  await shop.open()
  const [order, other] = [await shop.order(), await shop.order()]
  const hash = await token.pay(order.pay_to, PRICE)
  const raw = await chain.rawTransaction(hash)
  await mineAndRead(2)
  expect(await shop.status(order)).toBe('confirmed')
  // In its new block another transfer comes first, so it has another index there.
  await chain.reorganise(3, [
    [{ ...token.payment(other.pay_to, 0n), from: mover, nonce: '0x0' }, 0],
    [raw, 0],
  ])
  const receipt = await chain.rpc<{ logs: { logIndex: string }[] }>('eth_getTransactionReceipt', [hash])
  expect(receipt.logs).toMatchObject([{ logIndex: '0x1' }])
  await mineAndRead(4)
  const [payment, ...more] = await shop.payments(order)
  expect(more).toEqual([])
  expect(payment).toMatchObject({ state: 'final', outcome: 'counted' })
  expect(await shop.status(order)).toBe('confirmed')
})

test('a reorganisation of the very first block that was read is read again, and no payment is missed', async () => {
  await shop.open()
  const order = await shop.order()
  await chain.reorganise(4, [[token.payment(order.pay_to, PRICE), 1]])
  await mineAndRead(2)
  await until('the order is confirmed', async () => (await shop.status(order)) === 'confirmed')
  expect(shop.log).toMatchObject([{ level: 'warn', event: 'chain_reorganised' }])
  await expectStoredBlocksOnChain()
})

test('blocks are stored only as far back as a reorganisation may reach', async () => {
  await shop.open()
  await mineAndRead(150)
  await mineAndRead(10)
  const blocks = await shop.blocks('evm:31337')
  expect(blocks.length).toBeLessThanOrEqual(65)
  expect(blocks.length).toBeGreaterThan(60)
  await expectStoredBlocksOnChain()
})

test('an order that is opened and paid while a block is replaced is paid in the replacing block', async () => {
  const endpoint = await startEndpoint(chain.url)
  shop.again({ EVM_RPC_URLS: endpoint.url })
  await shop.open()
  const next = (await chain.height()) + 1
  let order: Awaited<ReturnType<ChainShop['order']>> | undefined
  endpoint.behave = async ({ method, params, pass }) => {
    if (method === 'eth_getBlockByNumber' && Number(params[0]) === next && !order) {
      order = await shop.order()
      await chain.reorganise(1, [[token.payment(order.pay_to, PRICE), 0]])
    }
    return await pass()
  }
  await chain.mine()
  await until('the payment is seen', async () => !!order && (await shop.outcomes(order)).length === 1)
  await shop.stop()
  await endpoint.stop()
})
