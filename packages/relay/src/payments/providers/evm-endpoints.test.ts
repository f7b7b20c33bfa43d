// Endpoints that fail in every way they know, relays that are killed, and long absences: nothing is lost, nothing doubled.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type Endpoint,
  type Passing,
  startChain,
  startEndpoint,
  type TestChain,
  type TestToken,
} from '../../../test/chain.ts'
import { type ChainShop, type EvmSettings, openChainShop, PRICE, until } from '../../../test/chain-shop.ts'
import { engines, type TestStore } from '../../../test/engines.ts'
import { openSqlite } from '../../storage/sqlite.ts'

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
  for (const one of opened.splice(0).reverse()) await one.stop()
  await store.remove()
})

async function openEndpoint(target = chain): Promise<Endpoint> {
  const endpoint = await startEndpoint(target.url)
  opened.push(endpoint)
  return endpoint
}

async function openShop(urls: readonly string[], settings: EvmSettings = {}): Promise<ChainShop> {
  const given = { EVM_RPC_URLS: urls.join(','), EVM_TOKEN: token.address, EVM_CONFIRMATIONS: 1, ...settings }
  const shop = await openChainShop(store.storage, given)
  opened.push({ stop: () => shop.stop() })
  await shop.open()
  return shop
}

const events = (shop: ChainShop): string[] => shop.log.map(({ event }) => event)

describe('an endpoint', () => {
  test('that goes away and comes back loses nothing, and meanwhile nothing is known', async () => {
    const endpoint = await openEndpoint()
    const shop = await openShop([endpoint.url])
    const order = await shop.order()
    await endpoint.down()
    await until('it is missed', () => events(shop).includes('rpc_endpoint_failing'))
    const known = shop.provider.seenUntil()
    await chain.rpc('evm_increaseTime', [60])
    await token.pay(order.pay_to, PRICE)
    await chain.mine(5)
    await Bun.sleep(300)
    expect(shop.provider.seenUntil()).toBe(known)
    await shop.order() // Orders are still taken: where to pay is known, and nothing expires unseen.
    await endpoint.up()
    await until('it is confirmed', async () => (await shop.status(order)) === 'confirmed')
    expect(shop.provider.seenUntil()).toBeGreaterThan(known)
    expect(events(shop)).toEqual(['rpc_endpoint_failing', 'rpc_endpoint_back'])
  })

  test('that answers anything at all makes nothing of it, and loses nothing', async () => {
    const endpoint = await openEndpoint()
    const shop = await openShop([endpoint.url])
    const order = await shop.order()
    const hash = `0x${'ee'.repeat(32)}`
    const nonsense: ((request: Passing) => Response | Promise<Response>)[] = [
      () => new Response('<h1>Bad gateway</h1>', { status: 502, headers: { 'Content-Type': 'text/html' } }),
      () => new Response('<h1>Welcome</h1>'),
      () => new Response(''),
      () => new Response('null', { headers: { 'Content-Type': 'application/json' } }),
      () => new Response('[1]', { headers: { 'Content-Type': 'application/json' } }),
      () => new Response('{"jsonrpc":"2.0","id":1,"res', { headers: { 'Content-Type': 'application/json' } }),
      ({ result }) => result(null),
      ({ result }) => result('0x'),
      ({ result }) => result({ number: '0x999999', hash, parentHash: 'x', timestamp: '-1' }),
      ({ error }) => error(-32000, 'header not found'),
      ({ error }) => error(-32603, 'execution reverted'),
      // Another block than was asked for, and logs of another.
      async ({ method, pass, result }) => {
        if (method === 'eth_getLogs') return result([{ blockHash: hash }])
        if (method !== 'eth_getBlockByNumber') return await pass()
        const answer = await (await pass()).json()
        return result({ ...answer.result, number: `0x${(Number(answer.result?.number) + 1).toString(16)}` })
      },
    ]
    await token.pay(order.pay_to, PRICE)
    for (const [index, answer] of nonsense.entries()) {
      let times = 0
      endpoint.behave = (request) => {
        times++
        return answer(request)
      }
      await until(`nonsense ${index} was heard`, () => times > 0)
      await Bun.sleep(50)
    }
    const read = await shop.blocks('evm:31337')
    for (const { height, hash } of read) {
      const block = await chain.rpc<{ hash: string }>('eth_getBlockByNumber', [
        `0x${height.toString(16)}`,
        false,
      ])
      expect(hash).toBe(block.hash)
    }
    endpoint.behave = undefined
    await until('it is confirmed', async () => (await shop.status(order)) === 'confirmed')
    expect(await shop.outcomes(order)).toEqual(['counted'])
    expect(events(shop).filter((event) => !event.startsWith('rpc_endpoint'))).toEqual([])
  })

  test.each([
    ['HTTP 429', ({ error }: Passing) => error(-32005, 'slow down', { status: 429 })],
    ['HTTP 429 without JSON', () => new Response('slow down', { status: 429 })],
    ['a JSON-RPC error', ({ error }: Passing) => error(-32005, 'limit exceeded')],
    ['words', ({ error }: Passing) => error(-32000, 'You have exceeded your request limit')],
  ])('that limits by %s is asked less and less, and nothing is lost', async (_how, limit) => {
    const endpoint = await openEndpoint()
    const shop = await openShop([endpoint.url])
    const order = await shop.order()
    endpoint.behave = limit
    await until('it is limited', () => events(shop).includes('rpc_endpoint_failing'))
    const before = endpoint.asked.length
    await token.pay(order.pay_to, PRICE)
    await Bun.sleep(1000)
    // At every look it would be 25 times.
    expect(endpoint.asked.length - before).toBeLessThan(10)
    expect(shop.log[0]).toMatchObject({ reason: 'it limits how often it is asked' })
    endpoint.behave = undefined
    await until('it is confirmed', async () => (await shop.status(order)) === 'confirmed')
  })

  test('that says when to come back is not asked before', async () => {
    const endpoint = await openEndpoint()
    const shop = await openShop([endpoint.url])
    const order = await shop.order()
    const headers = { 'Retry-After': '2' }
    endpoint.behave = () => new Response('', { status: 429, headers })
    await until('it is limited', () => events(shop).includes('rpc_endpoint_failing'))
    const [limitedAt, before] = [performance.now(), endpoint.asked.length]
    endpoint.behave = undefined
    await token.pay(order.pay_to, PRICE)
    await until('it is asked again', () => endpoint.asked.length > before)
    expect(performance.now() - limitedAt).toBeGreaterThan(1900)
    await until('it is confirmed', async () => (await shop.status(order)) === 'confirmed')
  })

  test('that never ends an answer does not hold up a relay that stops', async () => {
    const endpoint = await openEndpoint()
    const shop = await openShop([endpoint.url])
    let isHeld = false
    endpoint.behave = () => {
      isHeld = true
      const body = new ReadableStream({ start: (stream) => stream.enqueue('{"jsonrpc":"2.0",') })
      return new Response(body, { headers: { 'Content-Type': 'application/json' } })
    }
    await until('it holds', () => isHeld)
    await Bun.sleep(100)
    const began = performance.now()
    await shop.stop()
    expect(performance.now() - began).toBeLessThan(2000)
    expect(shop.log).toEqual([])
  })

  test('of another chain is refused, and no part of its URL but the host is logged', async () => {
    const elsewhere = await startChain({ chainId: 31339 })
    opened.push(elsewhere)
    const wrong = elsewhere.url.replace('http://', 'http://name:password@')
    const shop = await openShop([`${wrong}/?key=key-1`, `${chain.url}/?key=key-2`])
    const order = await shop.order()
    await token.pay(order.pay_to, PRICE)
    await until('it is confirmed', async () => (await shop.status(order)) === 'confirmed')
    expect(shop.log).toEqual([
      {
        level: 'error',
        event: 'rpc_endpoint_refused',
        url: new URL(elsewhere.url).host,
        reason: 'its chain is 31339, where 31337 was expected',
      },
    ])
  })

  test('that became one of another chain is found out when it has failed', async () => {
    const elsewhere = await startChain({ chainId: 31339 })
    opened.push(elsewhere)
    await elsewhere.mine(100)
    const [endpoint, other] = [await openEndpoint(), await openEndpoint(elsewhere)]
    const shop = await openShop([endpoint.url])
    await endpoint.down()
    await until('it is missed', () => events(shop).includes('rpc_endpoint_failing'))
    endpoint.behave = async ({ method, params }) =>
      Response.json({ jsonrpc: '2.0', id: 1, result: await elsewhere.rpc(method, params) })
    await endpoint.up()
    await until('it is refused', () => events(shop).includes('rpc_endpoint_refused'))
    expect(other.asked).toEqual([])
    expect((await shop.blocks('evm:31337'))[0]?.height).toBeLessThanOrEqual(await chain.height())
  })

  test('for other chains that is of the same chain is refused', async () => {
    const shop = await openShop([chain.url], { EVM_OTHER_RPC_URLS: chain.url })
    await until('it is refused', () => events(shop).includes('rpc_endpoint_refused'))
    const order = await shop.order()
    await token.pay(order.pay_to, PRICE)
    await until('it is confirmed', async () => (await shop.status(order)) === 'confirmed')
    expect(await shop.outcomes(order)).toEqual(['counted'])
  })
})

describe('of two endpoints', () => {
  test('the second is asked where the first fails', async () => {
    const [first, second] = [await openEndpoint(), await openEndpoint()]
    const shop = await openShop([first.url, second.url])
    const order = await shop.order()
    await first.down()
    await token.pay(order.pay_to, PRICE)
    await until('it is confirmed', async () => (await shop.status(order)) === 'confirmed')
  })

  test('one that is behind holds nothing up and takes nothing back', async () => {
    const [late, good] = [await openEndpoint(), await openEndpoint()]
    const shop = await openShop([late.url, good.url])
    const stuck = await chain.height()
    late.behave = async ({ method, params, pass, result, error }) => {
      if (method === 'eth_getBlockByNumber') {
        const height = params[0] === 'latest' ? stuck : Number(params[0])
        if (height > stuck) return result(null)
        return result(await chain.rpc('eth_getBlockByNumber', [`0x${height.toString(16)}`, params[1]]))
      }
      if (method === 'eth_getLogs') {
        const isKnown =
          'fromBlock' in params[0] ||
          (await chain.rpc<{ number: string }>('eth_getBlockByHash', [params[0].blockHash, false])).number <=
            `0x${stuck.toString(16)}`
        return isKnown ? result([]) : error(-32000, 'unknown block')
      }
      return await pass()
    }
    const order = await shop.order()
    await token.pay(order.pay_to, PRICE)
    await until('it is confirmed', async () => (await shop.status(order)) === 'confirmed')
    await chain.mine(200)
    const heights: number[] = []
    const end = await chain.height()
    await until('all is read', async () => {
      heights.push((await shop.blocks('evm:31337'))[0]?.height ?? 0)
      return heights.at(-1) === end
    })
    expect(heights).toEqual(heights.toSorted((a, b) => a - b))
    expect(shop.log).toEqual([])
    expect(await shop.outcomes(order)).toEqual(['counted'])
  })

  test('they may disagree on the newest block: what came first stays until a longer chain is there', async () => {
    const [ours, theirs] = [await openEndpoint(), await openEndpoint()]
    const shop = await openShop([ours.url, theirs.url])
    const order = await shop.order()
    await token.pay(order.pay_to, PRICE)
    const height = await chain.height()
    await shop.hasRead(height)
    theirs.behave = async ({ method, params, pass, result }) => {
      if (method !== 'eth_getBlockByNumber' || params[0] !== 'latest') return await pass()
      const answer = await (await pass()).json()
      return result({ ...answer.result, hash: `0x${'dd'.repeat(32)}` })
    }
    await until('both were asked', () => theirs.asked.length > 5)
    expect(await shop.outcomes(order)).toEqual(['counted'])
    expect(shop.log).toEqual([])
  })
})

describe('after an absence', () => {
  test('3000 empty blocks are read by ranges, as wide as the endpoint allows', async () => {
    const quick = await startChain({ quick: true })
    opened.push(quick)
    const coin = await quick.deployToken(6)
    const endpoint = await startEndpoint(quick.url)
    opened.push(endpoint)
    const shop = await openShop([endpoint.url], { EVM_TOKEN: coin.address })
    const orders = [await shop.order(), await shop.order(), await shop.order()]
    await shop.hasRead(await quick.height())
    await shop.stop()
    for (const order of orders) {
      await coin.pay(order.pay_to, PRICE)
      await quick.mine(1000)
    }
    const widths: number[] = []
    endpoint.behave = ({ method, params, pass, error }) => {
      if (method !== 'eth_getLogs' || !('fromBlock' in params[0])) return pass()
      const width = Number(params[0].toBlock) - Number(params[0].fromBlock) + 1
      if (width > 500) return error(-32005, 'query exceeds max block range 500')
      widths.push(width)
      return pass()
    }
    endpoint.asked.length = 0
    shop.again()
    await shop.start()
    await shop.hasRead(await quick.height())
    for (const order of orders) expect(await shop.status(order)).toBe('confirmed')
    expect(Math.max(...widths)).toBeGreaterThan(250)
    expect(widths.reduce((sum, width) => sum + width, 0)).toBeGreaterThan(2900)
    expect(endpoint.asked.length).toBeLessThan(350)
    expect(shop.log).toEqual([])
  })

  test('a relay that is killed over and over reads each block once, and loses and doubles nothing', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sotto-chain-'))
    opened.push({ stop: () => rm(folder, { recursive: true, force: true }) })
    const endpoint = await openEndpoint()
    const settings = { EVM_RPC_URLS: endpoint.url, EVM_TOKEN: token.address, EVM_CONFIRMATIONS: 2 }
    const first = await openSqlite(folder)
    const before = await openChainShop(first, settings)
    await before.open()
    const orders = await Promise.all(Array.from({ length: 40 }, () => before.order()))
    await before.stop()
    await first.close()
    for (const order of orders) {
      await token.pay(order.pay_to, PRICE)
      await chain.mine(3)
    }
    const end = await chain.height()
    endpoint.behave = async ({ pass }) => {
      await Bun.sleep(2) // So that none gets far.
      return await pass()
    }
    for (let kills = 0; kills < 7; kills++) {
      const script = join(import.meta.dir, '../../../test/chain-process.ts')
      const relay = Bun.spawn([process.execPath, script, folder, JSON.stringify(settings)], {
        stdout: 'pipe',
      })
      await relay.stdout.getReader().read()
      await Bun.sleep(100 + 170 * kills)
      relay.kill('SIGKILL')
      await relay.exited
    }
    endpoint.behave = undefined
    const last = await openSqlite(folder)
    try {
      const after = await openChainShop(last, settings)
      const [position] = await after.blocks('evm:31337')
      expect(position?.height).toBeGreaterThan(end - 160)
      await after.start()
      await after.hasRead(end)
      for (const order of orders) {
        expect(await after.outcomes(order)).toEqual(['counted'])
        expect(await after.status(order)).toBe('confirmed')
      }
      await after.stop()
    } finally {
      await last.close()
    }
  })
})

for (const engine of engines) {
  test(`two relays that read the same chain into the same store record it once, on ${engine.name}`, async () => {
    const shared = await engine.open()
    opened.push({ stop: () => shared.remove() })
    const settings = { EVM_RPC_URLS: chain.url, EVM_TOKEN: token.address, EVM_CONFIRMATIONS: 2 }
    const one = await openChainShop(shared.storage, settings)
    const two = await openChainShop(shared.storage, settings)
    opened.push({ stop: () => one.stop() }, { stop: () => two.stop() })
    await Promise.all([one.open(), two.open()])
    const orders = await Promise.all(
      Array.from({ length: 20 }, (_, index) => (index % 2 ? one : two).order()),
    )
    for (const order of orders) await token.pay(order.pay_to, PRICE)
    await chain.mine(3)
    const raw = await chain.rawTransaction(await token.pay(orders[0]?.pay_to ?? '', 1n))
    await Promise.all([one, two].map(async (shop) => shop.hasRead(await chain.height())))
    await chain.reorganise(1, [[raw, 0]])
    await chain.mine(4)
    await Promise.all([one, two].map(async (shop) => shop.hasRead(await chain.height())))
    for (const order of orders.slice(1)) expect(await one.outcomes(order)).toEqual(['counted'])
    expect(await one.outcomes(orders[0] as never)).toEqual(['counted', 'refund twice'])
    const heights = (await one.blocks('evm:31337')).map(({ height }) => height)
    expect(heights).toEqual(heights.map((_, index) => (heights[0] ?? 0) - index))
    const wrong = [...one.log, ...two.log].filter(({ level }) => level === 'error')
    expect(wrong).toEqual([])
  })
}
