// Endpoints that fail in many ways: no payment is lost or counted twice.
import { describe, expect, test } from 'bun:test'
import { type Passing, startChain } from '../../../test/chain.ts'
import { type ChainShop, type EvmSettings, PRICE, until } from '../../../test/chain-shop.ts'
import { useChain } from '../../../test/chain-world.ts'

const world = useChain()
const openEndpoint = world.openEndpoint

/** A shop that uses these endpoints and needs one confirmation. */
function openShop(urls: readonly string[], settings: EvmSettings = {}): Promise<ChainShop> {
  return world.openStartedShop({ EVM_RPC_URLS: urls.join(','), EVM_CONFIRMATIONS: 1, ...settings })
}

const events = (shop: ChainShop): string[] => shop.log.map(({ event }) => event)

describe('an endpoint', () => {
  test('that goes away and comes back loses no payment, and orders do not expire meanwhile', async () => {
    const endpoint = await openEndpoint()
    const shop = await openShop([endpoint.url])
    const order = await shop.order()
    await endpoint.down()
    await until('the failure is logged', () => events(shop).includes('rpc_endpoint_failing'))
    const known = shop.provider.seenUntil()
    await world.chain.rpc('evm_increaseTime', [60])
    await world.token.pay(order.pay_to, PRICE)
    await world.chain.mine(5)
    await Bun.sleep(300)
    expect(shop.provider.seenUntil()).toBe(known)
    // Orders are still accepted: their addresses can be derived, and no order expires while the chain is not
    // read.
    await shop.order()
    await endpoint.up()
    await until('the order is confirmed', async () => (await shop.status(order)) === 'confirmed')
    expect(shop.provider.seenUntil()).toBeGreaterThan(known)
    expect(events(shop)).toEqual(['rpc_endpoint_failing', 'rpc_endpoint_back'])
  })

  test('that sends invalid answers causes no payments and loses none', async () => {
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
    ]
    await world.token.pay(order.pay_to, PRICE)
    for (const [index, answer] of nonsense.entries()) {
      let times = 0
      endpoint.behave = (request) => {
        times++
        return answer(request)
      }
      await until(`invalid answer ${index} is sent`, () => times > 0)
      await Bun.sleep(50)
    }
    const read = await shop.blocks('evm:31337')
    for (const { height, hash } of read) {
      const block = await world.chain.rpc<{ hash: string }>('eth_getBlockByNumber', [
        `0x${height.toString(16)}`,
        false,
      ])
      expect(hash).toBe(block.hash)
    }
    endpoint.behave = undefined
    await until('the order is confirmed', async () => (await shop.status(order)) === 'confirmed')
    expect(await shop.outcomes(order)).toEqual(['counted'])
    expect(events(shop).filter((event) => !event.startsWith('rpc_endpoint'))).toEqual([])
  })

  test.each([
    ['a block of another height', 'eth_getBlockByNumber', { number: '0x7fffffff' }],
    ['events of another block', 'eth_getLogs', { blockHash: `0x${'ee'.repeat(32)}` }],
  ])('that answers with %s is not trusted', async (_what, wrong, change) => {
    const endpoint = await openEndpoint()
    const shop = await openShop([endpoint.url])
    const order = await shop.order()
    endpoint.behave = async ({ method, params, pass, result }) => {
      if (method !== wrong || params[0] === 'latest') return await pass()
      const { result: right } = await (await pass()).json()
      return result(
        Array.isArray(right) ? right.map((one) => ({ ...one, ...change })) : { ...right, ...change },
      )
    }
    await world.token.pay(order.pay_to, PRICE)
    await until('the wrong answer is logged', () => events(shop).includes('rpc_endpoint_failing'))
    expect(shop.log).toMatchObject([{ reason: 'its answer is not valid' }])
    expect(await shop.payments(order)).toEqual([])
    endpoint.behave = undefined
    await until('the order is confirmed', async () => (await shop.status(order)) === 'confirmed')
  })

  test.each([
    ['HTTP 429', ({ error }: Passing) => error(-32005, 'slow down', { status: 429 })],
    ['HTTP 429 without JSON', () => new Response('slow down', { status: 429 })],
    ['a JSON-RPC error', ({ error }: Passing) => error(-32005, 'limit exceeded')],
    ['words', ({ error }: Passing) => error(-32000, 'You have exceeded your request limit')],
  ])('that limits requests by %s gets fewer requests, and no payment is lost', async (_how, limit) => {
    const endpoint = await openEndpoint()
    const shop = await openShop([endpoint.url])
    const order = await shop.order()
    const askedAt: number[] = []
    endpoint.behave = (request) => {
      askedAt.push(performance.now())
      return limit(request)
    }
    await world.token.pay(order.pay_to, PRICE)
    await until('the endpoint gets six requests', () => askedAt.length > 5)
    // The pause doubles each time, up to eight times the 50 ms between two rounds. Half of each pause is
    // random.
    for (const [index, leastMs] of [25, 50, 100, 200, 200].entries())
      expect((askedAt[index + 1] ?? 0) - (askedAt[index] ?? 0)).toBeGreaterThanOrEqual(leastMs)
    expect(shop.log[0]).toMatchObject({ reason: 'it limits how often it is asked' })
    endpoint.behave = undefined
    await until('the order is confirmed', async () => (await shop.status(order)) === 'confirmed')
  })

  test('that sends Retry-After is not requested before that time', async () => {
    const endpoint = await openEndpoint()
    const shop = await openShop([endpoint.url])
    const order = await shop.order()
    const headers = { 'Retry-After': '2' }
    let limitedAt = 0
    endpoint.behave = () => {
      limitedAt = performance.now()
      return new Response('', { status: 429, headers })
    }
    await until('the limit is logged', () => events(shop).includes('rpc_endpoint_failing'))
    const before = endpoint.asked.length
    endpoint.behave = undefined
    await world.token.pay(order.pay_to, PRICE)
    await until('the endpoint gets another request', () => endpoint.asked.length > before)
    expect(performance.now() - limitedAt).toBeGreaterThan(1900)
    await until('the order is confirmed', async () => (await shop.status(order)) === 'confirmed')
  })

  test('that redirects is not followed, because it may lead into the operator’s own network', async () => {
    const [endpoint, elsewhere] = [await openEndpoint(), await openEndpoint()]
    const shop = await openShop([endpoint.url])
    endpoint.behave = () => new Response(null, { status: 307, headers: { location: elsewhere.url } })
    await until('the failure is logged', () => events(shop).includes('rpc_endpoint_failing'))
    expect(elsewhere.asked).toEqual([])
  })

  test('that never ends an answer does not delay stopping the relay', async () => {
    const endpoint = await openEndpoint()
    const shop = await openShop([endpoint.url])
    let isHeld = false
    endpoint.behave = () => {
      isHeld = true
      const body = new ReadableStream({ start: (stream) => stream.enqueue('{"jsonrpc":"2.0",') })
      return new Response(body, { headers: { 'Content-Type': 'application/json' } })
    }
    await until('the endpoint gets a request', () => isHeld)
    await Bun.sleep(100)
    const began = performance.now()
    await shop.stop()
    // Nobody waits longer than 10 s for an answer.
    expect(performance.now() - began).toBeLessThan(9000)
    expect(shop.log).toEqual([])
  })

  test('of another chain is refused, and no part of its URL but the host is logged', async () => {
    const elsewhere = await startChain({ chainId: 31339 })
    world.opened.push(elsewhere)
    const wrong = elsewhere.url.replace('http://', 'http://name:password@')
    const shop = await openShop([`${wrong}/?key=key-1`, `${world.chain.url}/?key=key-2`], { EVM_AGREE: 1 })
    const order = await shop.order()
    await world.token.pay(order.pay_to, PRICE)
    await until('the order is confirmed', async () => (await shop.status(order)) === 'confirmed')
    expect(shop.log).toEqual([
      {
        level: 'error',
        event: 'rpc_endpoint_refused',
        url: new URL(elsewhere.url).host,
        reason: 'its chain is 31339, where 31337 was expected',
      },
    ])
  })

  test('that now serves another chain is detected after it has failed', async () => {
    const elsewhere = await startChain({ chainId: 31339 })
    world.opened.push(elsewhere)
    await elsewhere.mine(100)
    const [endpoint, other] = [await openEndpoint(), await openEndpoint(elsewhere)]
    const shop = await openShop([endpoint.url])
    await endpoint.down()
    await until('the failure is logged', () => events(shop).includes('rpc_endpoint_failing'))
    endpoint.behave = async ({ method, params }) =>
      Response.json({ jsonrpc: '2.0', id: 1, result: await elsewhere.rpc(method, params) })
    await endpoint.up()
    await until('the endpoint is refused', () => events(shop).includes('rpc_endpoint_refused'))
    expect(other.asked).toEqual([])
    expect((await shop.blocks('evm:31337'))[0]?.height).toBeLessThanOrEqual(await world.chain.height())
  })

  test('for other chains is refused if it serves the same chain', async () => {
    const shop = await openShop([world.chain.url], { EVM_OTHER_RPC_URLS: world.chain.url })
    await until('the endpoint is refused', () => events(shop).includes('rpc_endpoint_refused'))
    const order = await shop.order()
    await world.token.pay(order.pay_to, PRICE)
    await until('the order is confirmed', async () => (await shop.status(order)) === 'confirmed')
    expect(await shop.outcomes(order)).toEqual(['counted'])
  })
})

test('a chain that stands still is reported once', async () => {
  const still = await startChain()
  world.opened.push(still)
  const coin = await still.deployToken(6)
  const settings = { EVM_RPC_URLS: still.url, EVM_CONFIRMATIONS: 1, EVM_TOKEN: coin.address }
  const shop = await world.openShop(settings)
  let nowMs = 0 // Only the test moves this clock, because a busy machine would add time.
  shop.clock.monotonic = () => nowMs
  await shop.open()
  nowMs = 599_000
  await Bun.sleep(200)
  expect(shop.log).toEqual([])
  nowMs = 605_000
  await until('the standstill is logged', () => shop.log.length > 0)
  nowMs = 7_000_000
  await Bun.sleep(200)
  expect(shop.log).toMatchObject([{ level: 'error', event: 'chain_stands_still' }])
  await still.mine()
  await shop.hasRead(await still.height())
})

describe('of two endpoints, one of which is enough,', () => {
  test('the second is used if the first fails', async () => {
    const [first, second] = [await openEndpoint(), await openEndpoint()]
    const shop = await openShop([first.url, second.url], { EVM_AGREE: 1 })
    const order = await shop.order()
    await first.down()
    await world.token.pay(order.pay_to, PRICE)
    await until('the order is confirmed', async () => (await shop.status(order)) === 'confirmed')
  })

  test('the second is used if the first never answers', async () => {
    const [first, second] = [await openEndpoint(), await openEndpoint()]
    const shop = await openShop([first.url, second.url], { EVM_AGREE: 1 })
    const order = await shop.order()
    first.behave = () => new Promise<Response>(() => undefined)
    await world.token.pay(order.pay_to, PRICE)
    await until('the order is confirmed', async () => (await shop.status(order)) === 'confirmed')
    expect(shop.log).toMatchObject([{ reason: 'it did not answer in time' }])
  })

  test('one that is behind delays nothing and retracts nothing', async () => {
    const [late, good] = [await openEndpoint(), await openEndpoint()]
    const shop = await openShop([late.url, good.url], { EVM_AGREE: 1 })
    const stuck = await world.chain.height()
    late.behave = async ({ method, params, pass, result, error }) => {
      if (method === 'eth_getBlockByNumber') {
        const height = params[0] === 'latest' ? stuck : Number(params[0])
        if (height > stuck) return result(null)
        return result(await world.chain.rpc('eth_getBlockByNumber', [`0x${height.toString(16)}`, params[1]]))
      }
      if (method === 'eth_getLogs') {
        const isKnown =
          'fromBlock' in params[0] ||
          (await world.chain.rpc<{ number: string }>('eth_getBlockByHash', [params[0].blockHash, false]))
            .number <= `0x${stuck.toString(16)}`
        return isKnown ? result([]) : error(-32000, 'unknown block')
      }
      return await pass()
    }
    const order = await shop.order()
    await world.token.pay(order.pay_to, PRICE)
    await until('the order is confirmed', async () => (await shop.status(order)) === 'confirmed')
    await world.chain.mine(200)
    const heights: number[] = []
    const end = await world.chain.height()
    await until('all blocks are read', async () => {
      heights.push((await shop.blocks('evm:31337'))[0]?.height ?? 0)
      return heights.at(-1) === end
    })
    expect(heights).toEqual(heights.toSorted((a, b) => a - b))
    expect(shop.log).toEqual([])
    expect(await shop.outcomes(order)).toEqual(['counted'])
  })

  test('if they disagree on the newest block, the block that was read first stays until one chain is longer', async () => {
    const [ours, theirs] = [await openEndpoint(), await openEndpoint()]
    const shop = await openShop([ours.url, theirs.url], { EVM_AGREE: 1 })
    const order = await shop.order()
    await world.token.pay(order.pay_to, PRICE)
    const height = await world.chain.height()
    await shop.hasRead(height)
    theirs.behave = async ({ method, params, pass, result }) => {
      if (method !== 'eth_getBlockByNumber' || params[0] !== 'latest') return await pass()
      const answer = await (await pass()).json()
      return result({ ...answer.result, hash: `0x${'dd'.repeat(32)}` })
    }
    await until('the second endpoint gets six requests', () => theirs.asked.length > 5)
    expect(await shop.outcomes(order)).toEqual(['counted'])
    expect(shop.log).toEqual([])
  })
})
