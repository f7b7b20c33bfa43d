// `sotto orders addresses` and `reconcile`: a relay that sells on a real chain, whose operator collects the
// money and compares the books with the chain.
import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import type { HoldingLine } from '@sotto/relay'
import { type RelayProcess, startRelay } from '@sotto/relay/testing'
import { startChain, type TestChain, type TestToken } from '@sotto/relay/testing/chain'
import { type WireAccount, wireAccount } from '@sotto/relay/testing/wire'

setDefaultTimeout(240_000)

const MAIN = join(import.meta.dir, '../src/main.ts')
/** Of the test vector of BIP-39 that begins with `legal winner`; never hold money under it. */
const XPUB =
  'xpub6Bh6Cg7bvjFdW6VEAaZmsyhZh86WdJ9Kr5aqqY5LN7UFLpxTrxsiys213UCu8MAYjcq5JhF7jzZXvruGfWfPbxqsByNNhwWaNQRuhP3JcC3'
const UNIT = 1_000_000n
const COLLECTOR = `0x${'c0'.repeat(20)}`

let chain: TestChain
let token: TestToken
let relay: RelayProcess
let alice: WireAccount
beforeAll(async () => {
  chain = await startChain()
  token = await chain.deployToken(6)
  relay = await startRelay({
    env: {
      ...{ PAYMENTS: 'evm', EVM_RPC_URLS: chain.url, EVM_CHAIN_ID: String(chain.chainId), EVM_XPUB: XPUB },
      ...{ EVM_TOKEN: token.address, EVM_CONFIRMATIONS: '1', EVM_POLL_MS: '50', EVM_NETWORK: 'Test' },
    },
  })
  alice = await wireAccount(relay.url)
})
afterAll(async () => {
  await relay.stop()
  await chain.stop()
})

async function orders(...args: string[]) {
  const child = Bun.spawn([process.execPath, MAIN, 'orders', ...args], {
    env: { PATH: process.env.PATH ?? '', DATA_DIR: relay.dataDir },
    ...{ stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' },
  })
  const texts = [new Response(child.stdout).text(), new Response(child.stderr).text()]
  const [output = '', errors = ''] = await Promise.all(texts)
  return { code: await child.exited, output, errors }
}

interface Bought {
  readonly order_id: string
  readonly pay_to: string
}

/**
 * Asks again until there is an answer, for at most a minute. The relay announces none of these moments.
 */
async function answered<T>(what: string, ask: () => Promise<T | undefined>): Promise<T> {
  const end = performance.now() + 60_000
  while (performance.now() < end) {
    const answer = await ask()
    if (answer !== undefined) return answer
    await Bun.sleep(50)
  }
  throw new Error(`waited in vain until ${what}`)
}

/** Buys an id for 10 units and pays an amount. Resolves once the relay has seen the payment. */
async function buy(alias: string, amount: bigint): Promise<Bought> {
  const bought = await answered('the chain was read for the first time', async () => {
    const { status, body } = await alice.post('/vanity/purchase', { alias_id: alias })
    return status === 200 ? (body as Bought) : undefined
  })
  await token.pay(bought.pay_to, amount)
  await answered('the payment was seen', async () => {
    const { output } = await orders('show', bought.order_id, '--json')
    return JSON.parse(output).payments[0]
  })
  return bought
}

/** Moves money from a deposit address, as its owner does when it is collected. */
async function collect({ pay_to }: Bought, amount: bigint): Promise<void> {
  await chain.rpc('anvil_impersonateAccount', [pay_to])
  await chain.rpc('anvil_setBalance', [pay_to, '0xde0b6b3a7640000'])
  const { data } = token.payment(COLLECTOR, amount)
  await chain.rpc('eth_sendTransaction', [{ from: pay_to, to: token.address, data }])
}

function tamper(statement: string, ...values: string[]): void {
  using database = new Database(join(relay.dataDir, 'sotto.db'))
  database.run('PRAGMA busy_timeout = 5000')
  database.run(statement, values)
}

/** Resolves once the relay has read the chain's newest block. */
async function caughtUp(): Promise<void> {
  const height = await chain.height()
  await answered(`block ${height} was read`, async () => {
    const { output } = await orders('chains', '--json')
    return JSON.parse(output).find((line: { height: number }) => line.height >= height)
  })
}

test('before anything was paid, no address holds money and the books equal the chain', async () => {
  expect((await orders('addresses')).output).toBe(
    'address,path,network,symbol,amount,smallest_units,asset,order_id,status\r\n',
  )
  expect(await orders('reconcile')).toEqual({
    ...{ code: 0, errors: '', output: 'No address of an order has received anything.\n' },
  })
})

test('the addresses with money are listed with the path of their keys, and no longer once it was collected', async () => {
  const first = await buy('riverbed', 10n * UNIT)
  const second = await buy('mountain', 12n * UNIT + 1n)
  const asset = `evm:${chain.chainId}/${token.address}`
  const { output } = await orders('addresses')
  expect(output.split('\r\n').slice(1)).toEqual([
    `${first.pay_to},0/0,Test,USDT,10,10000000,${asset},${first.order_id},confirmed`,
    `${second.pay_to},0/1,Test,USDT,12.000001,12000001,${asset},${second.order_id},confirmed`,
    '',
  ])
  await collect(first, 10n * UNIT)
  await caughtUp()
  expect((await orders('addresses')).output).not.toContain(first.pay_to)
  const all = await orders('addresses', '--all', '--json')
  const lines: HoldingLine[] = JSON.parse(all.output)
  expect(lines.map(({ address, balance, booked }) => ({ address, balance, booked }))).toEqual([
    { address: first.pay_to, balance: '0', booked: '10000000' },
    { address: second.pay_to, balance: '12000001', booked: '12000001' },
  ])
})

test('the books equal the chain to the unit, also after money was collected', async () => {
  const order = await buy('oceanside', 10n * UNIT)
  await collect(order, 4n * UNIT)
  await caughtUp()
  const { code, output, errors } = await orders('reconcile')
  expect({ code, errors }).toEqual({ code: 0, errors: '' })
  expect(output).toMatch(/^USDT on Test \(evm:31337\/0x[0-9a-f]{40}\), up to block \d+\n/)
  expect(output).toEndWith(
    `  received by the books  32.000001\n  held by addresses      18.000001\n  moved out of them      14\n  difference             0\n`,
  )
})

test('money that the books do not know, or that never arrived, is named with its address: exit code 1', async () => {
  const order = await buy('seaside', 10n * UNIT)
  tamper("UPDATE payments SET amount = '9999999' WHERE amount = '10000000' AND order_number = 4")
  const more = await orders('reconcile')
  expect(more.output).toEndWith(
    `DIFFERS: ${order.pay_to} (order ${order.order_id}) has received 0.000001 USDT more than the books say\n`,
  )
  expect({ code: more.code, errors: more.errors }).toEqual({
    code: 1,
    errors:
      'sotto: the books and the chains differ at one address; see "Orders from the command line" in docs/operations/payments.md\n',
  })
  tamper("UPDATE payments SET amount = '10000001' WHERE amount = '9999999'")
  expect((await orders('reconcile')).output).toEndWith(
    `DIFFERS: ${order.pay_to} (order ${order.order_id}) has received 0.000001 USDT less than the books say\n`,
  )
  tamper("UPDATE payments SET amount = '10000000' WHERE amount = '10000001'")
  expect((await orders('reconcile')).code).toBe(0)
})

test('what the operator confirmed by hand is not expected on the chain', async () => {
  const { body } = await alice.post('/vanity/purchase', { alias_id: 'hillside' })
  expect((await orders('confirm', body.order_id, '--why', 'cash')).code).toBe(0)
  expect((await orders('reconcile')).code).toBe(0)
})

test('without a running relay, which alone asks the chains, both say so', async () => {
  await relay.kill('SIGTERM')
  for (const name of ['addresses', 'reconcile']) {
    const { code, errors } = await orders(name)
    expect({ code, errors }).toEqual({
      code: 1,
      errors: 'sotto: only a running relay asks the chains, and none runs here\n',
    })
  }
  await relay.start()
})
