// Blocks that somebody filled, and very many addresses: transfers of the payment token are always read.
import { expect, test } from 'bun:test'
import { type ChainShop, type EvmSettings, PRICE, until } from '../../../test/chain-shop.ts'
import { useChain } from '../../../test/chain-world.ts'

const world = useChain()
const openEndpoint = world.openEndpoint

/** A shop that uses these endpoints and needs one confirmation. */
function openShop(urls: readonly string[], settings: EvmSettings = {}): Promise<ChainShop> {
  return world.openStartedShop({ EVM_RPC_URLS: urls.join(','), EVM_CONFIRMATIONS: 1, ...settings })
}

test('if an endpoint limits its answers for a block, transfers of the payment token are still read', async () => {
  const endpoint = await openEndpoint()
  const shop = await openShop([endpoint.url])
  const order = await shop.order()
  endpoint.behave = ({ method, params, pass, error }) =>
    method === 'eth_getLogs' && !params[0].address
      ? error(-32005, 'query returned more than 10000 results')
      : pass()
  await world.token.pay(order.pay_to, PRICE)
  await until('the order is confirmed', async () => (await shop.status(order)) === 'confirmed')
  expect(shop.log).toMatchObject([{ level: 'warn', event: 'chain_block_crowded' }])
})

test('an endpoint that refuses a block with an unknown message does not stop the reading', async () => {
  const endpoint = await openEndpoint()
  const shop = await openShop([endpoint.url])
  const order = await shop.order()
  const other = await world.chain.deployToken(6)
  endpoint.behave = async ({ method, params, pass, error }) =>
    method === 'eth_getLogs' && !params[0].address ? error(-32000, 'no') : await pass()
  await other.pay(order.pay_to, 1n)
  await world.token.pay(order.pay_to, PRICE)
  await until('the order is confirmed', async () => (await shop.status(order)) === 'confirmed')
  expect(shop.log.map(({ event }) => event)).toContain('chain_block_crowded')
}, 120_000)

test('a block that is too large to search for coins is still read for tokens', async () => {
  const endpoint = await openEndpoint()
  const shop = await openShop([endpoint.url])
  const order = await shop.order()
  endpoint.behave = async ({ method, pass, error }) =>
    method === 'eth_getBlockByHash' ? error(-32000, 'response size exceeded') : await pass()
  await world.token.pay(order.pay_to, PRICE)
  await until('the order is confirmed', async () => (await shop.status(order)) === 'confirmed')
}, 120_000)

test('very many addresses are watched with one request', async () => {
  const endpoint = await openEndpoint()
  const shop = await openShop([endpoint.url])
  const order = await shop.order()
  const others = Array.from({ length: 2001 }, (_, at) => `0x${(at + 1).toString(16).padStart(40, '0')}`)
  await world.store.storage.transaction(async (sql) => {
    for (const address of others)
      await sql`
        INSERT INTO orders (order_id, kind, ref_id, title, price, provider, deposit_index, pay_to, asset, amount,
          page_token, status, created_at, expires_at)
        VALUES (${address}, 'quota', 'channel_quota', '', 5, 'evm', 0, ${address}, '', '', ${address}, 'expired', 0,
          ${order.expires_at})`
    await sql`
      INSERT INTO order_destinations (order_number, asset, provider, pay_to, decimals, amount)
      SELECT id, 'evm:31337/token', provider, pay_to, 6, '5000000' FROM orders WHERE asset = ''`
  })
  const filters: unknown[] = []
  endpoint.behave = async ({ method, params, pass }) => {
    if (method === 'eth_getLogs' && !params[0].address) filters.push(params)
    return await pass()
  }
  await world.token.payAll([order.pay_to, ...others.slice(0, 20)], PRICE)
  await until('the order is confirmed', async () => (await shop.status(order)) === 'confirmed')
  expect(filters).toHaveLength(1)
  expect(await world.store.storage.sql`SELECT id FROM payments`).toHaveLength(21)
})
