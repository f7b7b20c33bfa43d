// Two relays on one PostgreSQL watch a chain by turns: each payment counts once, and when the node that
// watches dies or sleeps, the other one goes on.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { openPostgresBeside } from '../src/storage/postgres.ts'
import { startChain, type TestChain, type TestToken } from './chain.ts'
import { XPUB } from './chain-shop.ts'
import { engines } from './engines.ts'
import { eventually } from './payment-watch.ts'
import { type RelayProcess, startRelay } from './relay-process.ts'
import { untilLogged } from './until-logged.ts'
import { type WireAccount, wireAccount } from './wire.ts'

setDefaultTimeout(240_000)
const CONFIRMATIONS = 3
let chain: TestChain
let token: TestToken
let env: Record<string, string>
const nodes: RelayProcess[] = []

beforeAll(async () => {
  chain = await startChain()
  token = await chain.deployToken(6)
  const postgres = engines.find(({ name }) => name === 'PostgreSQL')
  env = {
    ...{ PAYMENTS: 'evm', EVM_RPC_URLS: chain.url, EVM_CHAIN_ID: String(chain.chainId), EVM_POLL_MS: '100' },
    ...{ EVM_TOKEN: token.address, EVM_XPUB: XPUB, EVM_CONFIRMATIONS: String(CONFIRMATIONS) },
    ...{ LOG_LEVEL: 'info', ...(await postgres?.environment()) },
  }
})
afterAll(async () => {
  for (const node of nodes) await node.stop()
  await chain?.stop()
})

async function startNode(): Promise<RelayProcess> {
  const node = await startRelay({ env })
  nodes.push(node)
  return node
}

/** Waits until a node has logged so often that its turn to watch began or was lost. */
const untilPayments = (node: RelayProcess, event: string, times = 1): Promise<void> =>
  eventually(() => {
    const found = node.errors().match(new RegExp(`"event":"${event}","reason":"payments"`, 'g'))
    expect(found?.length ?? 0).toBeGreaterThanOrEqual(times)
  })

/** Buys an id, pays, and waits until the buyer is told. */
async function buy(buyer: WireAccount, alias: string): Promise<void> {
  const { socket } = await buyer.online()
  let order: { pay_to: string; price_usdt: number; order_id: string } | undefined
  await eventually(async () => {
    const answer = await buyer.post('/vanity/purchase', { alias_id: alias })
    expect(answer.status).toBe(200)
    order = answer.body
  })
  if (!order) throw new Error('there is no order')
  await token.pay(order.pay_to, BigInt(order.price_usdt) * 1_000_000n)
  await chain.mine(CONFIRMATIONS - 1)
  expect(await socket.next('payment_confirmed')).toMatchObject({ order_id: order.order_id, ref_id: alias })
  await socket.close()
}

test('each payment counts once, also when the node that watches sleeps or is killed', async () => {
  const first = await startNode()
  await untilPayments(first, 'lease_taken')
  const second = await startNode()
  const alice = await wireAccount(second.url)
  await buy(alice, 'brook_one')
  expect(second.errors()).not.toContain('"event":"lease_taken","reason":"payments"')

  process.kill(first.pid, 'SIGSTOP')
  await untilPayments(second, 'lease_taken')
  await buy(alice, 'brook_two')
  process.kill(first.pid, 'SIGCONT')
  await untilPayments(first, 'lease_lost')

  await second.kill('SIGKILL')
  await untilPayments(first, 'lease_taken', 2)
  await buy(await wireAccount(first.url), 'brook_three')

  await first.kill('SIGTERM')
  await second.start() // A clean stop gave the turn up.
  await untilLogged(second, 'lease_taken')

  const storage = openPostgresBeside(env.DATABASE_URL ?? '', { connections: 1 })
  const events = await storage.sql<{ count: number }>`
    SELECT COUNT(*) AS count FROM order_events WHERE what = 'confirmed' GROUP BY order_number`
  expect(events).toEqual(Array(3).fill({ count: 1 }))
  const payments = await storage.sql<{ outcome: string }>`SELECT outcome FROM payments`
  expect(payments).toEqual(Array(3).fill({ outcome: 'counted' }))
  await storage.close()
})
