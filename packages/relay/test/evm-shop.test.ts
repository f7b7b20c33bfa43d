// Purchases on a real chain, seen from outside: a relay process, an EVM chain, an ERC-20 token, and buyers
// who pay in time or late.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { type Endpoint, startChain, startEndpoint, type TestChain, type TestToken } from './chain.ts'
import { XPUB } from './chain-shop.ts'
import { engines, type TestEngine } from './engines.ts'
import { expectProblem } from './expect.ts'
import { eventually } from './payment-watch.ts'
import { type RelayProcess, startRelay } from './relay-process.ts'
import { errorLines } from './use-relay.ts'
import { type Answer, call, type WireAccount, wireAccount } from './wire.ts'

const CONFIRMATIONS = 3
const UNIT = 1_000_000n
let names = 0
/** An id that no other test orders. */
function freshId(): string {
  names += 1
  return `brook_${names}`
}

interface Order {
  readonly order_id: string
  readonly pay_to: string
  readonly price_usdt: number
  readonly expired_at: string
}

for (const engine of engines) describe(`on ${engine.name}`, () => shopOn(engine))

function shopOn(engine: TestEngine): void {
  let chain: TestChain
  let token: TestToken
  let endpoint: Endpoint
  let relay: RelayProcess

  const start = async (env: Record<string, string> = {}): Promise<RelayProcess> => {
    const settings = { PAYMENTS: 'evm', EVM_RPC_URLS: endpoint.url, EVM_CHAIN_ID: String(chain.chainId) }
    const asset = { EVM_TOKEN: token.address, EVM_XPUB: XPUB, EVM_CONFIRMATIONS: String(CONFIRMATIONS) }
    return await startRelay({
      env: { ...settings, ...asset, EVM_POLL_MS: '100', ...env, ...(await engine.environment()) },
    })
  }

  beforeAll(async () => {
    chain = await startChain()
    token = await chain.deployToken(6)
    endpoint = await startEndpoint(chain.url)
    relay = await start()
  }, 120_000)
  afterAll(async () => {
    const errors = relay.errors()
    await relay.stop()
    await endpoint.stop()
    await chain.stop()
    expect(errorLines(errors)).toEqual([])
  }, 120_000)

  const pay = ({ pay_to, price_usdt }: Order, amount = BigInt(price_usdt) * UNIT) => token.pay(pay_to, amount)
  const confirm = () => chain.mine(CONFIRMATIONS - 1)

  test('an id is bought and paid, confirmed at the required depth and not before, announced and bound', async () => {
    const alice = await wireAccount(relay.url)
    const { socket } = await alice.online()
    const alias = freshId()
    const order = await purchase(alice, alias)
    expect(order.pay_to).toMatch(/^0x[0-9a-fA-F]{40}$/)
    await pay(order)
    await chain.mine(CONFIRMATIONS - 2)
    await Bun.sleep(500)
    expect(await statusOf(relay, order)).toBe('pending')
    await chain.mine()
    const frame = { type: 'payment_confirmed', order_id: order.order_id, ref_id: alias }
    expect(await socket.next('payment_confirmed')).toEqual(frame)
    expect(await statusOf(relay, order)).toBe('confirmed')
    expect((await alice.post('/vanity/bind', { order_id: order.order_id })).body).toEqual({ alias_id: alias })
    await socket.close()
  })

  test('if two accounts order the same id and channel at once, one gets each order, the other 409, and paying gives it to them', async () => {
    const [seller, ...buyers] = [
      await wireAccount(relay.url),
      await wireAccount(relay.url),
      await wireAccount(relay.url),
    ]
    const alias = freshId()
    const channel = (await seller.post('/channels', { name: 'Cats' })).body.channel_id
    await seller.post('/vanity/list-channel', { channel_id: channel, price_usdt: 40 })
    const ids = await Promise.all(buyers.map((buyer) => buyer.post('/vanity/purchase', { alias_id: alias })))
    const channels = await Promise.all(buyers.map((buyer) => buyer.bare('POST', `/channels/${channel}/buy`)))
    for (const answers of [ids, channels])
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
    const winner = (answers: readonly Answer[]): [WireAccount, Order] => {
      const at = answers.findIndex(({ status }) => status === 200)
      const [account, order] = [buyers[at], answers[at]?.body]
      if (!account) throw new Error('no account got the order')
      return [account, order]
    }
    const [[idWinner, idOrder], [owner, channelOrder]] = [winner(ids), winner(channels)]
    expect(channelOrder.price_usdt).toBe(40)
    await pay(idOrder)
    await pay(channelOrder)
    await confirm()
    await untilStatus(relay, channelOrder, 'confirmed')
    await untilStatus(relay, idOrder, 'confirmed')
    expect((await idWinner.post('/vanity/bind', { order_id: idOrder.order_id })).status).toBe(200)
    expect((await owner.get(`/channels/${channel}`)).body).toMatchObject({ role: 'owner', for_sale: false })
    expect((await seller.get(`/channels/${channel}`)).body).not.toHaveProperty('role')
    const due = { order_id: channelOrder.order_id, channel_id: channel, seller: seller.alias, price_usdt: 40 }
    expect((await operator(relay, 'payouts.due', {})).at(-1)).toMatchObject(due)
    const late = buyers.find((buyer) => buyer !== owner)
    expectProblem((await late?.bare('POST', `/channels/${channel}/buy`)) as Answer, 409, 'CHANNEL_TAKEN')
  })

  test('a payment made while the relay is down is confirmed after the start, and the buyer gets payment_confirmed on connecting', async () => {
    const alice = await wireAccount(relay.url)
    const alias = freshId()
    const order = await purchase(alice, alias)
    await relay.kill('SIGKILL')
    await pay(order)
    await confirm()
    await relay.start()
    await untilStatus(relay, order, 'confirmed')
    const { socket, backlog } = await alice.online()
    const confirmations = backlog.filter(({ type }) => type === 'payment_confirmed')
    expect(confirmations).toEqual([{ type: 'payment_confirmed', order_id: order.order_id, ref_id: alias }])
    await socket.close()
  })

  test('a relay that is killed several times around a payment confirms it once', async () => {
    const alice = await wireAccount(relay.url)
    const alias = freshId()
    const order = await purchase(alice, alias)
    await pay(order)
    for (let kills = 0; kills < 4; kills++) {
      await Bun.sleep(30 + 60 * kills)
      await relay.kill('SIGKILL')
      await chain.mine()
      await relay.start()
    }
    await untilStatus(relay, order, 'confirmed')
    const { socket, backlog } = await alice.online()
    expect(backlog.filter(({ type }) => type === 'payment_confirmed')).toHaveLength(1)
    await socket.close()
  })

  test('a payment that a reorganisation removes confirms nothing; a repeated payment confirms the order once', async () => {
    const alice = await wireAccount(relay.url)
    const { socket } = await alice.online()
    const order = await purchase(alice, freshId())
    await pay(order)
    await chain.mine(CONFIRMATIONS - 2)
    await Bun.sleep(500) // The relay has seen the payment.
    await chain.reorganise(CONFIRMATIONS - 1)
    await chain.mine(CONFIRMATIONS)
    await Bun.sleep(500)
    expect(await statusOf(relay, order)).toBe('pending')
    await pay(order)
    await confirm()
    await socket.next('payment_confirmed')
    expect(await socket.during(300, 'payment_confirmed')).toEqual([])
    await socket.close()
  })

  test('two partial payments confirm an order; a payment in another token does not', async () => {
    const alice = await wireAccount(relay.url)
    const order = await purchase(alice, freshId())
    const other = await chain.deployToken(6)
    await other.pay(order.pay_to, BigInt(order.price_usdt) * UNIT)
    await pay(order, UNIT)
    await confirm()
    await Bun.sleep(500)
    expect(await statusOf(relay, order)).toBe('pending')
    await pay(order, (BigInt(order.price_usdt) - 1n) * UNIT)
    await confirm()
    await untilStatus(relay, order, 'confirmed')
  })

  test('the time of a payment’s block decides whether it is late: before the order’s end it is in time, after it is not', async () => {
    const short = await start({ LIMIT_ORDER_SECONDS: '120' })
    try {
      const [alice, bob, carol] = [
        await wireAccount(short.url),
        await wireAccount(short.url),
        await wireAccount(short.url),
      ]
      const [inTime, tooLate] = [freshId(), freshId()]
      const first = await purchase(alice, inTime)
      const second = await purchase(bob, tooLate)
      const endsAt = (order: Order): number => Math.floor(Date.parse(order.expired_at) / 1000)
      // The relay cannot read the chain while both orders expire.
      await endpoint.down()
      await payAt(first, endsAt(first))
      await short.letPass(Date.parse(second.expired_at) - Date.now() + 100)
      for (const alias of [inTime, tooLate])
        expectProblem(await carol.post('/vanity/purchase', { alias_id: alias }), 409, 'ALIAS_TAKEN')
      await chain.rpc('evm_setNextBlockTimestamp', [endsAt(second) + 2])
      await confirm()
      await endpoint.up()
      // The relay retries a failing endpoint after a pause of its own clock, which letPass() stopped.
      await eventually(async () => {
        await short.letPass(100)
        expect(await statusOf(short, first)).toBe('confirmed')
      })
      // The second order has expired, and Carol buys the id before the late money arrives.
      const third = await purchase(carol, tooLate)
      await payAt(second, endsAt(second) + 10)
      await confirm()
      await pay(third)
      await confirm()
      await untilStatus(short, third, 'confirmed')
      expect(await statusOf(short, second)).toBe('expired')
      const { payments } = await operator(short, 'orders.show', { order_id: second.order_id })
      expect(payments).toMatchObject([{ outcome: 'refund', reason: 'late', state: 'final' }])
      expect((await alice.post('/vanity/bind', { order_id: first.order_id })).status).toBe(200)
      expect((await carol.post('/vanity/bind', { order_id: third.order_id })).status).toBe(200)
      expectProblem(await bob.post('/vanity/bind', { order_id: second.order_id }), 409, 'ORDER_NOT_CONFIRMED')
    } finally {
      await endpoint.up()
      await short.stop()
    }
  }, 120_000)

  test('while the chain is unreachable orders wait; payments made meanwhile are confirmed afterwards', async () => {
    const alice = await wireAccount(relay.url)
    const order = await purchase(alice, freshId())
    await endpoint.down()
    await pay(order)
    await confirm()
    await Bun.sleep(500)
    expect(await statusOf(relay, order)).toBe('pending')
    await endpoint.up()
    await untilStatus(relay, order, 'confirmed')
  })

  async function payAt(order: Order, seconds: number): Promise<void> {
    await chain.rpc('evm_setNextBlockTimestamp', [seconds])
    await pay(order)
  }
}

/** Orders an id once the relay has reached its chain. */
async function purchase(account: WireAccount, alias: string): Promise<Order> {
  for (let tries = 0; tries < 450; tries++) {
    const { status, body } = await account.post('/vanity/purchase', { alias_id: alias })
    if (status === 200) return body
    if (status !== 503 && status !== 409) throw new Error(`${alias}: ${status}`)
    await Bun.sleep(100)
  }
  throw new Error(`${alias} could not be ordered`)
}

/** Calls an operator command. */
// biome-ignore lint/suspicious/noExplicitAny: each command has a different answer
async function operator({ dataDir }: RelayProcess, command: string, input: object): Promise<any> {
  const init = { method: 'POST', body: JSON.stringify(input), unix: join(dataDir, 'operator.sock') }
  return JSON.parse((await call(`http://relay/${command}`, init)).text).answer
}

async function statusOf({ url }: { url: string }, { order_id }: Order): Promise<string> {
  return (await call(`${url}/api/v1/vanity/order/${order_id}/status`)).body.status
}

async function untilStatus(relay: { url: string }, order: Order, status: string): Promise<void> {
  for (let tries = 0; tries < 450; tries++) {
    if ((await statusOf(relay, order)) === status) return
    await Bun.sleep(100)
  }
  throw new Error(`the order is ${await statusOf(relay, order)}, not ${status}`)
}
