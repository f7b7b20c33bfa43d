// A story of the shop with real payments: a chain, a token, and a relay that watches them.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startChain, type TestChain, type TestToken } from '@sotto/relay/testing/chain'
import { Barriers } from './axe.ts'
import { isTold } from './told.ts'
import { AppWorld } from './world.ts'

/** The public key of an account of the test vectors of BIP-39; never send money to it. */
const XPUB =
  'xpub6Bh6Cg7bvjFdW6VEAaZmsyhZh86WdJ9Kr5aqqY5LN7UFLpxTrxsiys213UCu8MAYjcq5JhF7jzZXvruGfWfPbxqsByNNhwWaNQRuhP3JcC3'
const CONFIRMATIONS = 3
const UNIT = 1_000_000n

let chain: TestChain
let token: TestToken
const settings: Record<string, string> = {}

// Before the world starts its relay, which the chain's address is for.
beforeAll(async () => {
  chain = await startChain()
  token = await chain.deployToken(6)
  Object.assign(settings, {
    PAYMENTS: 'evm,manual',
    MANUAL_PAY_TO: 'The till in the shop',
    MANUAL_HOLD_HOURS: '72',
    EVM_RPC_URLS: chain.url,
    EVM_CHAIN_ID: String(chain.chainId),
    EVM_TOKEN: token.address,
    EVM_XPUB: XPUB,
    EVM_CONFIRMATIONS: String(CONFIRMATIONS),
    EVM_POLL_MS: '100',
  })
})
const world = new AppWorld(settings)
afterAll(() => chain.stop())

test('an alias is held, a way to pay is chosen, and it is paid on the chain, confirmed and bound', async () => {
  const gita = await world.joins('Gita')
  const t = gita.t.shop
  await gita.goesTo('#/shop/alias/gita_by_the_river')
  await gita.presses(t.hold)
  await gita.reads(t.states.pending)
  await gita.reads(/1[45]:\d\d/)
  const barriers = new Barriers()
  await barriers.lookAt(gita, 'an order with two ways to pay')
  expect(barriers.found).toEqual([])

  const [page] = await Promise.all([gita.context.waitForEvent('page'), gita.follows(t.pay)])
  await page.getByText('gita_by_the_river').first().waitFor()
  expect(await page.evaluate(() => window.opener === null)).toBe(true)
  await page.close()

  // Another way to pay is chosen, which gives more time, and then the first one again.
  const [first, second] = await gita.page.getByRole('radio').all()
  await second?.click()
  await gita.reads('The till in the shop')
  await gita.reads(/2 days, 23 hours|3 days/)
  await first?.click()
  const payTo = await gita.page.getByText(/^0x[0-9a-fA-F]{40}$/).innerText()
  const price = Number(/(\d+) USDT/.exec(await gita.page.locator('.shop-amount').innerText())?.[1])
  await token.pay(payTo, BigInt(price) * UNIT)
  await chain.mine(CONFIRMATIONS - 1)
  await isTold(gita, t.confirmedNotice)
  await gita.presses(t.bind)
  await gita.reads(t.bound)
  expect(await gita.ownAlias()).toBe('gita_by_the_river')
})
