// Blocks that somebody filled, and very many addresses: what is paid in is always read.
import { expect, test } from 'bun:test'
import { type ChainShop, type EvmSettings, PRICE, until } from '../../../test/chain-shop.ts'
import { useChain } from '../../../test/chain-world.ts'

const world = useChain()
const openEndpoint = world.openEndpoint

/** A shop that asks these endpoints, and is content with one block. */
function openShop(urls: readonly string[], settings: EvmSettings = {}): Promise<ChainShop> {
  return world.openStartedShop({ EVM_RPC_URLS: urls.join(','), EVM_CONFIRMATIONS: 1, ...settings })
}

test('that gives only so much of a block gives what is paid in', async () => {
  const endpoint = await openEndpoint()
  const shop = await openShop([endpoint.url])
  const order = await shop.order()
  endpoint.behave = ({ method, params, pass, error }) =>
    method === 'eth_getLogs' && !params[0].address
      ? error(-32005, 'query returned more than 10000 results')
      : pass()
  await world.token.pay(order.pay_to, PRICE)
  await until('it is confirmed', async () => (await shop.status(order)) === 'confirmed')
  expect(shop.log).toMatchObject([{ level: 'warn', event: 'chain_block_crowded' }])
})

test('an endpoint that refuses a block in words nobody knows does not end the reading', async () => {
  const endpoint = await openEndpoint()
  const shop = await openShop([endpoint.url])
  const order = await shop.order()
  const other = await world.chain.deployToken(6)
  endpoint.behave = async ({ method, params, pass, error }) =>
    method === 'eth_getLogs' && !params[0].address ? error(-32000, 'no') : await pass()
  await other.pay(order.pay_to, 1n)
  await world.token.pay(order.pay_to, PRICE)
  await until('it is confirmed', async () => (await shop.status(order)) === 'confirmed')
  expect(shop.log.map(({ event }) => event)).toContain('chain_block_crowded')
}, 60_000)

test('a block too large to be looked through for coins is read for tokens', async () => {
  const endpoint = await openEndpoint()
  const shop = await openShop([endpoint.url])
  const order = await shop.order()
  endpoint.behave = async ({ method, pass, error }) =>
    method === 'eth_getBlockByHash' ? error(-32000, 'response size exceeded') : await pass()
  await world.token.pay(order.pay_to, PRICE)
  await until('it is confirmed', async () => (await shop.status(order)) === 'confirmed')
}, 60_000)

test('very many addresses are watched by one question', async () => {
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
  })
  const filters: unknown[] = []
  endpoint.behave = async ({ method, params, pass }) => {
    if (method === 'eth_getLogs' && !params[0].address) filters.push(params)
    return await pass()
  }
  await world.token.payAll([order.pay_to, ...others.slice(0, 20)], PRICE)
  await until('it is confirmed', async () => (await shop.status(order)) === 'confirmed')
  expect(filters).toHaveLength(1)
  expect(await world.store.storage.sql`SELECT id FROM payments`).toHaveLength(21)
})
