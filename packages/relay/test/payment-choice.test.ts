// Several ways to pay at once, seen from outside: a relay process, two EVM chains with two tokens each of
// different decimals, TRON, and payments by hand.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Endpoint, startChain, startEndpoint, type TestChain, type TestToken } from './chain.ts'
import { XPUB } from './chain-shop.ts'
import { expectProblem } from './expect.ts'
import { eventually } from './payment-watch.ts'
import { type RelayProcess, startRelay } from './relay-process.ts'
import { TronGridServer } from './tron-grid-server.ts'
import { ACCOUNT, FIRST, USDT } from './tron-world.ts'
import { errorLines } from './use-relay.ts'
import { type Answer, call, post, type WireAccount, wireAccount } from './wire.ts'

setDefaultTimeout(240_000)

const CONFIRMATIONS = 2
const SECOND_ID = 31338
const TRON = `tron:mainnet/${USDT.address}`
const grid = new TronGridServer(
  new Map([
    [FIRST.address, FIRST.hex],
    [USDT.address, USDT.hex],
  ]),
)
let folder: string
let chains: readonly [TestChain, TestChain]
/** In front of the second chain. */
let endpoint: Endpoint
/** A token with 6 and one with 18 decimals on each chain. */
let tokens: readonly [[TestToken, TestToken], [TestToken, TestToken]]
let relay: RelayProcess
let alice: WireAccount
let names = 0

const file = () => join(folder, 'chains.json')
const entryOf = (at: 0 | 1, url: string) => ({
  ...{ chain_id: chains[at].chainId, network: `Chain ${at}`, rpc_urls: [url], confirmations: CONFIRMATIONS },
  tokens: [6, 18].map((decimals, n) => ({
    ...{ address: tokens[at][n]?.address, symbol: `T${decimals}`, decimals },
  })),
})
const first = () => entryOf(0, chains[0].url)
const second = () => entryOf(1, endpoint.url)
const writeChains = (list: readonly object[]) => writeFile(file(), JSON.stringify(list))
const idOf = (at: 0 | 1, n: 0 | 1): string => `evm:${chains[at].chainId}/${tokens[at][n].address}`

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sotto-choice-'))
  chains = await Promise.all([startChain(), startChain({ chainId: SECOND_ID })])
  const [one, two] = chains
  tokens = [
    [await one.deployToken(6), await one.deployToken(18)],
    [await two.deployToken(6), await two.deployToken(18)],
  ]
  endpoint = await startEndpoint(two.url)
  await writeChains([first(), second()])
  relay = await startRelay({
    env: {
      ...{ PAYMENTS: 'evm,tron,manual', MANUAL_PAY_TO: 'the till', EVM_CHAINS_FILE: file() },
      ...{ EVM_XPUB: XPUB, EVM_POLL_MS: '100' },
      ...{ TRON_API_URL: grid.http.url, TRON_XPUB: ACCOUNT.publicExtendedKey, TRON_CONFIRMATIONS: '3' },
    },
  })
  alice = await wireAccount(relay.url)
})
afterAll(async () => {
  const errors = relay.errors()
  await relay.stop()
  await endpoint.stop()
  for (const chain of chains) await chain.stop()
  grid[Symbol.dispose]()
  await rm(folder, { recursive: true, force: true })
  expect(errorLines(errors)).toEqual([])
})

interface Order {
  readonly order_id: string
  readonly price_usdt: number
  readonly pay_to: string
  readonly method: string
  readonly methods: readonly { readonly method: string }[]
}

/** Orders an id once these ways to pay are offered. Another order of the account is not left pending. */
async function order(expected: readonly string[]): Promise<Order> {
  alice = await wireAccount(relay.url)
  names += 1
  const alias_id = `brooklet_${names}`
  let placed: Order | undefined
  await eventually(async () => {
    const { status, body } = await alice.post('/vanity/purchase', { alias_id })
    expect(status).toBe(200)
    expect(body.methods.map(({ method }: { method: string }) => method)).toEqual(expected)
    placed = body
  })
  if (!placed) throw new Error('no order was placed')
  // On a slow machine, the order was placed before every chain was read, and begins with one that was.
  const [first = ''] = expected
  return placed.method === first ? placed : { ...placed, ...(await choose(placed, first)).body }
}

const all = () => [idOf(0, 0), idOf(0, 1), idOf(1, 0), idOf(1, 1), TRON, 'manual']
const choose = ({ order_id }: Order, method: string): Promise<Answer> =>
  post(alice.api(`/vanity/order/${order_id}/method`), { method })
const statusOf = async ({ order_id }: Order): Promise<string> =>
  (await call(alice.api(`/vanity/order/${order_id}/status`))).body.status
const confirmed = (placed: Order) => eventually(async () => expect(await statusOf(placed)).toBe('confirmed'))
const wholeUnits = ({ price_usdt }: Order, decimals: number) => BigInt(price_usdt) * 10n ** BigInt(decimals)

test('every way is offered and can be chosen in turn; money by any of them confirms the order', async () => {
  const placed = await order(all())
  expect(placed).toMatchObject({ method: idOf(0, 0), pay_to: expect.stringMatching(/^0x[0-9a-fA-F]{40}$/) })
  // The same address on all EVM chains.
  for (const method of all().slice(0, 4))
    expect((await choose(placed, method)).body).toMatchObject({ method, pay_to: placed.pay_to })
  expect((await choose(placed, TRON)).body).toMatchObject({ method: TRON, pay_to: FIRST.address })
  expect((await choose(placed, 'manual')).body).toMatchObject({ method: 'manual', pay_to: 'the till' })
  expectProblem(await choose(placed, 'usdt'), 404, 'NOT_FOUND')
  const amount = wholeUnits(placed, 6)
  grid.add(1, 1000, [{ token: USDT.hex, to: FIRST.hex, amount }])
  await eventually(async () => expectProblem(await choose(placed, TRON), 409, 'ORDER_CLOSED'))
  grid.head = 1002
  await confirmed(placed)
})

test('half in one token on one chain and half in another on the other confirm the order', async () => {
  const placed = await order(all())
  await tokens[0][1].pay(placed.pay_to, wholeUnits(placed, 18) / 2n)
  await chains[0].mine(CONFIRMATIONS)
  await eventually(async () =>
    expect(await pageOf(placed)).toMatchObject({ state: 'short', due: String(placed.price_usdt / 2) }),
  )
  expect(await statusOf(placed)).toBe('pending')
  await tokens[1][0].pay(placed.pay_to, wholeUnits(placed, 6) / 2n)
  await chains[1].mine(CONFIRMATIONS)
  await confirmed(placed)
})

test('a chain that cannot be read is not offered and stops no sale; what was paid there counts later', async () => {
  const placed = await order(all())
  expect((await choose(placed, idOf(1, 1))).status).toBe(200)
  await endpoint.down()
  await tokens[1][1].pay(placed.pay_to, wholeUnits(placed, 18))
  await chains[1].mine(CONFIRMATIONS)
  const owner = alice
  const other = await order([idOf(0, 0), idOf(0, 1), TRON, 'manual'])
  expectProblem(await choose(other, idOf(1, 0)), 503, 'PAYMENTS_UNAVAILABLE')
  await tokens[0][0].pay(other.pay_to, wholeUnits(other, 6))
  await chains[0].mine(CONFIRMATIONS)
  await confirmed(other)
  await endpoint.up()
  alice = owner
  await confirmed(placed)
})

test('a relay starts without a chain that orders wait for, and sees what was paid there once it is back', async () => {
  const placed = await order(all())
  expect((await choose(placed, idOf(1, 0))).status).toBe(200)
  await relay.kill('SIGTERM')
  await writeChains([first()])
  await tokens[1][0].pay(placed.pay_to, wholeUnits(placed, 6))
  await chains[1].mine(CONFIRMATIONS)
  await relay.start()
  const owner = alice
  await order([idOf(0, 0), idOf(0, 1), TRON, 'manual'])
  alice = owner
  expect(await statusOf(placed)).toBe('pending')
  expect(await pageOf(placed)).toMatchObject({ state: 'waiting', due: String(placed.price_usdt) })
  await relay.kill('SIGTERM')
  await writeChains([first(), second()])
  await relay.start()
  await confirmed(placed)
})

test('that TRON cannot be read is said in /ready, and no longer once it can', async () => {
  const placed = await order(all())
  expect((await choose(placed, TRON)).status).toBe(200)
  const payments = async (): Promise<string> => (await call(`${relay.url}/ready`)).body.payments
  await eventually(async () => expect(await payments()).toBe('ok'))
  grid.instead = () => new Response(null, { status: 500 })
  await eventually(async () => expect(await payments()).toBe('tron few'))
  grid.instead = () => undefined
  await eventually(async () => expect(await payments()).toBe('ok'))
})

/** The state of an order's payment page. */
// biome-ignore lint/suspicious/noExplicitAny: the page's state is compared as it is
async function pageOf({ order_id }: Order): Promise<any> {
  const orders = (await alice.get('/vanity/orders')).body
  const own = orders.find((one: Order) => one.order_id === order_id)
  return (await call(`${own.payment_url}/state`)).body
}
