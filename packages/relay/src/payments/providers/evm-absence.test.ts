// Long absences, killed relays, and several relays that read one chain: each block is read once.
import { describe, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startChain, startEndpoint } from '../../../test/chain.ts'
import { type ChainShop, type EvmSettings, openChainShop, PRICE, until } from '../../../test/chain-shop.ts'
import { useChain } from '../../../test/chain-world.ts'
import { engines } from '../../../test/engines.ts'
import { openSqlite } from '../../storage/sqlite.ts'

/**
 * How many answers each relay gets before it is killed. They are counted, because in a time a slow machine
 * may read nothing and a quick one everything. Storing the first position takes some 150 answers, each later
 * one about five.
 */
const ANSWERS_BEFORE_KILLS = [10, 70, 130, 60, 40, 61, 50]

const world = useChain()
const openEndpoint = world.openEndpoint

/** A shop that uses these endpoints and needs one confirmation. */
function openShop(urls: readonly string[], settings: EvmSettings = {}): Promise<ChainShop> {
  return world.openStartedShop({ EVM_RPC_URLS: urls.join(','), EVM_CONFIRMATIONS: 1, ...settings })
}

describe('after an absence', () => {
  test('3000 empty blocks are read in ranges as wide as the endpoint allows', async () => {
    const quick = await startChain({ quick: true })
    world.opened.push(quick)
    const coin = await quick.deployToken(6)
    const endpoint = await startEndpoint(quick.url)
    world.opened.push(endpoint)
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
  }, 240_000)

  test('a relay that is killed repeatedly reads each block once, and loses or repeats no payment', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sotto-chain-'))
    world.opened.push({ stop: () => rm(folder, { recursive: true, force: true }) })
    const endpoint = await openEndpoint()
    const settings = { EVM_RPC_URLS: endpoint.url, EVM_TOKEN: world.token.address, EVM_CONFIRMATIONS: 2 }
    const first = await openSqlite(folder)
    const before = await openChainShop(first, settings)
    await before.open()
    const orders = await Promise.all(Array.from({ length: 40 }, () => before.order()))
    await before.stop()
    await first.close()
    for (const order of orders) {
      await world.token.pay(order.pay_to, PRICE)
      await world.chain.mine(3)
    }
    const end = await world.chain.height()
    const script = join(import.meta.dir, '../../../test/chain-process.ts')
    for (const answers of ANSWERS_BEFORE_KILLS) {
      let left = answers
      const asksMore = Promise.withResolvers<void>()
      const killed = Promise.withResolvers<void>()
      endpoint.behave = async ({ pass, error }) => {
        if (left-- > 0) return await pass()
        asksMore.resolve()
        await killed.promise
        return error(-32000, 'too late')
      }
      const relay = Bun.spawn([process.execPath, script, folder, JSON.stringify(settings)])
      await asksMore.promise
      relay.kill('SIGKILL')
      await relay.exited
      killed.resolve()
    }
    endpoint.behave = undefined
    const last = await openSqlite(folder)
    try {
      const after = await openChainShop(last, settings)
      const [position] = await after.blocks('evm:31337')
      expect(position?.height).toBeGreaterThan(end - 160)
      expect(position?.height).toBeLessThan(end)
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
  }, 240_000)
})

for (const engine of engines) {
  test(`two relays that read the same chain into the same store record it once, on ${engine.name}`, async () => {
    const shared = await engine.open()
    world.opened.push({ stop: () => shared.remove() })
    const settings = { EVM_RPC_URLS: world.chain.url, EVM_TOKEN: world.token.address, EVM_CONFIRMATIONS: 2 }
    const one = await openChainShop(shared.storage, settings)
    const two = await openChainShop(shared.storage, settings)
    world.opened.push({ stop: () => one.stop() }, { stop: () => two.stop() })
    await Promise.all([one.open(), two.open()])
    const orders = await Promise.all(
      Array.from({ length: 20 }, (_, index) => (index % 2 ? one : two).order()),
    )
    for (const order of orders) await world.token.pay(order.pay_to, PRICE)
    await world.chain.mine(3)
    const raw = await world.chain.rawTransaction(await world.token.pay(orders[0]?.pay_to ?? '', 1n))
    await Promise.all([one, two].map(async (shop) => shop.hasRead(await world.chain.height())))
    await world.chain.reorganise(1, [[raw, 0]])
    await world.chain.mine(4)
    await Promise.all([one, two].map(async (shop) => shop.hasRead(await world.chain.height())))
    for (const order of orders.slice(1)) expect(await one.outcomes(order)).toEqual(['counted'])
    expect(await one.outcomes(orders[0] as never)).toEqual(['counted', 'refund twice'])
    const heights = (await one.blocks('evm:31337')).map(({ height }) => height)
    expect(heights).toEqual(heights.map((_, index) => (heights[0] ?? 0) - index))
    const wrong = [...one.log, ...two.log].filter(({ level }) => level === 'error')
    expect(wrong).toEqual([])
  })
}

test('a relay records nothing of a block that another relay finished first', async () => {
  const forked = await startChain()
  world.opened.push(forked)
  const coin = await forked.deployToken(6)
  const endpoint = await startEndpoint(forked.url)
  world.opened.push(endpoint)
  const settings = { EVM_TOKEN: coin.address, EVM_CONFIRMATIONS: 2 }
  const slow = await openShop([endpoint.url], settings)
  const order = await slow.order()
  const other = await openShop([forked.url], settings)
  await other.stop()
  let release = (): void => undefined
  let isHeld = false
  endpoint.behave = async ({ method, pass }) => {
    const answer = await pass()
    if (method === 'eth_getBlockByHash' && !isHeld) {
      isHeld = true
      await new Promise<void>((resolve) => {
        release = resolve
      })
    }
    return answer
  }
  await coin.pay(order.pay_to, PRICE)
  await until('the endpoint holds back a block', () => isHeld)
  await forked.reorganise(1)
  await forked.mine(5)
  other.again()
  await other.start()
  await other.hasRead(await forked.height())
  release()
  await forked.mine()
  await slow.hasRead(await forked.height())
  expect(await slow.payments(order)).toEqual([])
  expect(slow.log).toEqual([])
})
