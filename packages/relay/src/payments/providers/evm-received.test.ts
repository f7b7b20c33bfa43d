// What counts is what an address received, not what an event names.
import { expect, test } from 'bun:test'
import { startChain } from '../../../test/chain.ts'
import { inventedTransfer } from '../../../test/chain-lies.ts'
import { PRICE, until } from '../../../test/chain-shop.ts'
import { useChain } from '../../../test/chain-world.ts'

const world = useChain()

test('a token that takes a fee and reports the gross sum leaves the order short until the rest is paid', async () => {
  const token = await world.chain.deployToken(6, 'FeeToken')
  const shop = await world.openStartedShop({ EVM_TOKEN: token.address, EVM_CONFIRMATIONS: 1 })
  const order = await shop.order()
  await token.pay(order.pay_to, PRICE)
  await shop.hasRead(await world.chain.height())
  expect(await shop.status(order)).toBe('pending')
  expect(await shop.payments(order)).toMatchObject([{ amount: String((PRICE * 99n) / 100n), state: 'final' }])
  expect(shop.log).toMatchObject([{ level: 'warn', event: 'payment_less_received' }])
  await token.payAll([order.pay_to, order.pay_to], PRICE / 100n)
  await shop.hasRead(await world.chain.height())
  const amounts = (await shop.payments(order)).map(({ amount }) => BigInt(amount))
  expect(amounts.reduce((sum, amount) => sum + amount)).toBe((PRICE * 99n * 102n) / 10_000n)
  expect(await shop.status(order)).toBe('confirmed')
})

test('an event without money is no payment, even if the only endpoint shows it', async () => {
  const endpoint = await world.openEndpoint()
  const shop = await world.openStartedShop({ EVM_RPC_URLS: endpoint.url, EVM_CONFIRMATIONS: 1 })
  const order = await shop.order()
  const height = (await world.chain.height()) + 1
  const lie = inventedTransfer(world.chain, world.token, { to: order.pay_to, amount: PRICE }, height)
  endpoint.behave = (request) => (request.method === 'eth_call' ? request.pass() : lie(request))
  await world.chain.mine(3)
  await shop.hasRead(height + 2)
  expect(await shop.payments(order)).toEqual([])
  expect(await shop.status(order)).toBe('pending')
})

test('money that left the address in the same block counts', async () => {
  const shop = await world.openStartedShop({ EVM_CONFIRMATIONS: 1 })
  const order = await shop.order()
  const owner = order.pay_to as `0x${string}`
  await world.chain.rpc('anvil_setBalance', [owner, '0xde0b6b3a7640000'])
  await world.chain.rpc('anvil_impersonateAccount', [owner])
  await world.chain.rpc('evm_setAutomine', [false])
  const paid = world.token.payment(owner, PRICE)
  await world.chain.rpc('eth_sendTransaction', [paid])
  const collected = { ...world.token.payment(world.chain.payer, PRICE), from: owner, gasPrice: '0x77359400' }
  await world.chain.rpc('eth_sendTransaction', [{ ...collected, gasPrice: '0x3b9aca08' }])
  await world.chain.rpc('evm_setAutomine', [true])
  await world.chain.mine()
  await shop.hasRead(await world.chain.height())
  expect(await shop.outcomes(order)).toEqual(['counted'])
})

test('after an absence, a payment counts that was collected meanwhile, and an endpoint need not have old states', async () => {
  const quick = await startChain()
  world.opened.push(quick)
  const coin = await quick.deployToken(6)
  const endpoint = await world.openEndpoint(quick)
  const settings = { EVM_RPC_URLS: endpoint.url, EVM_TOKEN: coin.address, EVM_CONFIRMATIONS: 2 }
  const shop = await world.openStartedShop(settings)
  const [order, kept] = [await shop.order(), await shop.order()]
  await shop.stop()
  await coin.pay(order.pay_to, PRICE)
  await coin.pay(kept.pay_to, PRICE)
  await quick.mine(20)
  await quick.rpc('anvil_setBalance', [order.pay_to, '0xde0b6b3a7640000'])
  await quick.rpc('anvil_impersonateAccount', [order.pay_to])
  await quick.rpc('eth_sendTransaction', [{ ...coin.payment(quick.payer, PRICE), from: order.pay_to }])
  await quick.mine(200)
  let refused = 0
  endpoint.behave = async ({ method, params, pass, error }) => {
    const isOld =
      method === 'eth_call' && params[1] !== 'latest' && Number(params[1]) < (await quick.height()) - 128
    if (!isOld) return await pass()
    refused++
    return error(-32000, 'missing trie node')
  }
  shop.again()
  await shop.start()
  await until('both are confirmed', async () => {
    const states = [await shop.status(order), await shop.status(kept)]
    return states.every((state) => state === 'confirmed')
  })
  expect(refused).toBeGreaterThan(0)
  expect(shop.log).toEqual([])
})
