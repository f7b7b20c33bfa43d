// Endpoints that show another chain, chains that stop, and chains that are read again.
import { expect, test } from 'bun:test'
import { failureOf } from '../../../../protocol/test/failure-of.ts'
import { type Endpoint, startChain, type TestChain } from '../../../test/chain.ts'
import { otherBranch, otherChain } from '../../../test/chain-lies.ts'
import { type ChainShop, PRICE, until } from '../../../test/chain-shop.ts'
import { useChain } from '../../../test/chain-world.ts'
import { listChains } from '../chain-store.ts'
import { chainCommands } from '../operator-chains.ts'

const world = useChain()

async function start(options: Parameters<typeof startChain>[0] = {}): Promise<TestChain> {
  const chain = await startChain(options)
  world.opened.push(chain)
  return chain
}

/** A shop at an endpoint of the world's chain. */
async function openShop(confirmations = 1): Promise<{ endpoint: Endpoint; shop: ChainShop }> {
  const endpoint = await world.openEndpoint()
  const settings = { EVM_RPC_URLS: endpoint.url, EVM_CONFIRMATIONS: confirmations }
  const shop = await world.openStartedShop(settings)
  return { endpoint, shop }
}

const isLogged = (shop: ChainShop, event: string): boolean => shop.log.some((line) => line.event === event)

async function stateOf({ storage }: ChainShop) {
  const [chain] = await listChains(storage)
  return chain
}

/** A chain with the same number and token as the world's, but another history, that is longer. */
async function startRival(): Promise<{
  rival: TestChain
  token: Awaited<ReturnType<TestChain['deployToken']>>
}> {
  const rival = await start({ since: 1_700_000_000 })
  const token = await rival.deployToken(6)
  expect(token.address).toBe(world.token.address)
  await rival.mine((await world.chain.height()) + 500)
  return { rival, token }
}

test('an endpoint that serves another chain for a while, from the middle of a question on, changes nothing', async () => {
  const elsewhere = await start({ chainId: 31339 })
  const coin = await elsewhere.deployToken(6)
  expect(coin.address).toBe(world.token.address)
  const { endpoint, shop } = await openShop()
  const order = await shop.order()
  await coin.pay(order.pay_to, PRICE)
  await elsewhere.mine((await world.chain.height()) + 200)
  const lie = otherChain(elsewhere)
  let isElsewhere = false
  endpoint.behave = async (request) => {
    // The first question about a block begins it, so that the check before that question is passed.
    isElsewhere ||= request.method === 'eth_getBlockByNumber'
    return isElsewhere ? await lie(request) : await request.pass()
  }
  await until('the endpoint is refused', () => isLogged(shop, 'rpc_endpoint_refused'))
  const asked = endpoint.asked.length
  await until('the endpoint is asked again', () => endpoint.asked.length > asked + 2)
  expect(await shop.payments(order)).toEqual([])
  expect((await stateOf(shop))?.position.height).toBeLessThanOrEqual(await world.chain.height())
  endpoint.behave = undefined
  await world.token.pay(order.pay_to, PRICE)
  await until('the order is confirmed', async () => (await shop.status(order)) === 'confirmed')
  expect(await shop.outcomes(order)).toEqual(['counted'])
})

test('a chain that shares no remembered block stops, retracts and expires nothing, and goes on by itself', async () => {
  const { rival, token } = await startRival()
  const { endpoint, shop } = await openShop(5)
  const [order, unpaid] = [await shop.order(), await shop.order()]
  await world.token.pay(order.pay_to, PRICE)
  await shop.hasRead(await world.chain.height())
  expect(await shop.outcomes(order)).toEqual(['seen'])
  const known = shop.provider.seenUntil()
  const before = await stateOf(shop)
  await token.pay(unpaid.pay_to, PRICE)
  endpoint.behave = otherChain(rival)
  await until('the stop is logged', () => isLogged(shop, 'chain_stopped'))
  const asked = endpoint.asked.length
  await until('the endpoint is asked more', () => endpoint.asked.length > asked + 20)
  expect(await shop.outcomes(order)).toEqual(['seen'])
  expect(await shop.payments(unpaid)).toEqual([])
  expect(shop.provider.seenUntil()).toBe(known)
  expect((await stateOf(shop))?.position).toEqual(before?.position)
  expect(await stateOf(shop)).toMatchObject({ trouble: 'stopped', troubleHosts: new URL(endpoint.url).host })
  expect(await failureOf(shop.order())).toMatchObject({ code: 'PAYMENTS_UNAVAILABLE' })
  expect(shop.log.filter(({ event }) => event === 'chain_stopped')).toMatchObject([{ level: 'error' }])
  endpoint.behave = undefined
  await world.chain.mine(5)
  await until('the order is confirmed', async () => (await shop.status(order)) === 'confirmed')
  await until('the stop is over', async () => (await stateOf(shop))?.trouble === undefined)
  await shop.order()
})

test('a reorganisation of agreed blocks that one of two endpoints reports, while the other is down, undoes nothing', async () => {
  const [liar, other] = [await world.openEndpoint(), await world.openEndpoint()]
  const urls = `${liar.url},${other.url}`
  const shop = await world.openStartedShop({ EVM_RPC_URLS: urls, EVM_CONFIRMATIONS: 5 })
  const order = await shop.order()
  await world.token.pay(order.pay_to, PRICE)
  const height = await world.chain.height()
  await until('both agree', async () => ((await stateOf(shop))?.agreed.height ?? 0) >= height)
  expect(await shop.outcomes(order)).toEqual(['seen'])
  other.behave = () => new Response('down', { status: 503 })
  liar.behave = otherBranch(height)
  await world.chain.mine(1)
  const asked = liar.asked.length
  await until('the liar is asked more', () => liar.asked.length > asked + 40)
  expect(await shop.outcomes(order)).toEqual(['seen'])
  expect((await stateOf(shop))?.position.height).toBe(height)
  for (const endpoint of [liar, other]) endpoint.behave = undefined
  await world.chain.mine(4)
  await until('the order is confirmed', async () => (await shop.status(order)) === 'confirmed')
})

test('a stopped chain is read again from the block that the operator names', async () => {
  const { rival, token } = await startRival()
  const { endpoint, shop } = await openShop()
  const [paid, order] = [await shop.order(), await shop.order()]
  await world.token.pay(paid.pay_to, PRICE)
  await shop.hasRead(await world.chain.height())
  expect(await shop.status(paid)).toBe('confirmed')
  const from = await rival.height()
  await token.pay(order.pay_to, PRICE)
  endpoint.behave = otherChain(rival)
  await until('the stop is logged', () => isLogged(shop, 'chain_stopped'))
  await chainCommands(shop)['chains.rescan']({ from: (await stateOf(shop))?.position.height })
  await until('the order is confirmed', async () => (await shop.status(order)) === 'confirmed')
  expect(await rival.height()).toBeGreaterThan(from)
  expect(await stateOf(shop)).toMatchObject({ trouble: undefined, rescanFrom: undefined })
  // The chain no longer has what was paid before.
  expect(await shop.outcomes(paid)).toEqual(['gone'])
  await until('the loss is logged', () => isLogged(shop, 'payment_lost'))
  await shop.order()
})

test('no single endpoint says that a chain is still the one that was read before', async () => {
  const { rival } = await startRival()
  const endpoints = [await world.openEndpoint(), await world.openEndpoint(), await world.openEndpoint()]
  const urls = endpoints.map(({ url }) => url).join(',')
  const shop = await world.openStartedShop({ EVM_RPC_URLS: urls, EVM_CONFIRMATIONS: 1 })
  const paid = await shop.order()
  await world.token.pay(paid.pay_to, PRICE)
  await until('the order is confirmed', async () => (await shop.status(paid)) === 'confirmed')
  await shop.hasRead(await world.chain.height())
  const height = await world.chain.height()
  const elsewhere = otherChain(rival)
  for (const [index, endpoint] of endpoints.entries())
    endpoint.behave = async (request) => {
      const { method, params, pass } = request
      const isOld = method === 'eth_getBlockByNumber' && Number(params[0]) === height
      return index === 0 && isOld ? await pass() : await elsewhere(request)
    }
  await until('the stop is logged', () => isLogged(shop, 'chain_stopped'))
  // After a restart, the relay asks the endpoint first again.
  await shop.stop()
  shop.again()
  await chainCommands(shop)['chains.rescan']({ from: height })
  await shop.start()
  await until('the loss is logged', () => isLogged(shop, 'payment_lost'))
  expect(await shop.outcomes(paid)).toEqual(['gone'])
})

test('reading again waits for enough endpoints, and says so', async () => {
  const [first, second] = [await world.openEndpoint(), await world.openEndpoint()]
  const settings = { EVM_RPC_URLS: `${first.url},${second.url}`, EVM_CONFIRMATIONS: 1 }
  const shop = await world.openStartedShop(settings)
  await second.down()
  await chainCommands(shop)['chains.rescan']({ from: 1 })
  await until('the wait is logged', () => isLogged(shop, 'chain_endpoints_few'))
  expect(await stateOf(shop)).toMatchObject({ trouble: 'few', rescanFrom: 1 })
  await second.up()
  await until('it is read again', () => isLogged(shop, 'chain_rescan'))
  expect(await stateOf(shop)).toMatchObject({ trouble: undefined, rescanFrom: undefined })
})

test('reading again finds a missed payment, and a known one stays one', async () => {
  const { endpoint, shop } = await openShop()
  const from = (await world.chain.height()) + 1
  const [known, missed] = [await shop.order(), await shop.order()]
  await world.token.pay(known.pay_to, PRICE)
  await shop.hasRead(await world.chain.height())
  endpoint.behave = ({ method, pass, result }) => (method === 'eth_getLogs' ? result([]) : pass())
  await world.token.pay(missed.pay_to, PRICE)
  await shop.hasRead(await world.chain.height())
  endpoint.behave = undefined
  expect(await shop.payments(missed)).toEqual([])
  const rescan = chainCommands(shop)['chains.rescan']
  expect(await failureOf(rescan({ from: from + 1000 }))).toMatchObject({ name: 'OperatorRefusal' })
  expect(await failureOf(rescan({ from, chain: '31338' }))).toMatchObject({ name: 'OperatorRefusal' })
  expect(await rescan({ from, chain: '31337' })).toMatchObject({ chain: 'evm:31337', rescan_from: from })
  await until('the missed payment is found', async () => (await shop.status(missed)) === 'confirmed')
  expect(await shop.outcomes(known)).toEqual(['counted'])
  expect(await shop.outcomes(missed)).toEqual(['counted'])
})

test('a position above the newest block of every endpoint is not kept', async () => {
  const shorter = await start()
  const coin = await shorter.deployToken(6)
  await shorter.mine(10)
  const endpoint = await world.openEndpoint(shorter)
  const settings = { EVM_RPC_URLS: endpoint.url, EVM_TOKEN: coin.address, EVM_CONFIRMATIONS: 3 }
  const shop = await world.openShop(settings)
  let nowMs = 0 // Only the test moves this clock.
  shop.clock.monotonic = () => nowMs
  await shop.open()
  const order = await shop.order()
  await shorter.mine(3)
  await coin.pay(order.pay_to, PRICE)
  const height = await shorter.height()
  await shop.hasRead(height)
  await shorter.rpc('anvil_rollback', [3])
  const asked = endpoint.asked.length
  await until('the endpoint is asked more', () => endpoint.asked.length > asked + 20)
  // The endpoint may only be behind.
  expect((await stateOf(shop))?.position.height).toBe(height)
  nowMs = 31_000
  await until('the reading goes back', async () => (await stateOf(shop))?.position.height === height - 3)
  expect(await shop.outcomes(order)).toEqual(['gone'])
  await coin.pay(order.pay_to, PRICE)
  await shorter.mine(2)
  await until('the order is confirmed', async () => (await shop.status(order)) === 'confirmed')
})
