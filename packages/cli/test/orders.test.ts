// `sotto orders` as operators run it: beside a running relay, and on the store of a stopped relay.
import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AccountEntry, OrderDetail, OrderLine } from '@sotto/relay'
import { type RelayProcess, startRelay } from '@sotto/relay/testing'
import { type WireAccount, wireAccount } from '@sotto/relay/testing/wire'

setDefaultTimeout(240_000) // Each test starts about a dozen processes, one after the other.

const MAIN = join(import.meta.dir, '../src/main.ts')

async function sotto(args: readonly string[], env: Record<string, string> = {}) {
  const child = Bun.spawn([process.execPath, MAIN, 'orders', ...args], {
    env: { PATH: process.env.PATH ?? '', USER: 'somebody else', ...env },
    ...{ stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' },
  })
  const texts = [new Response(child.stdout).text(), new Response(child.stderr).text()]
  const [output = '', errors = ''] = await Promise.all(texts)
  return { code: await child.exited, output, errors }
}

const BY = ['--why', 'the bank says so']
const ME = Bun.spawnSync(['id', '-un']).stdout.toString().trim()

/** Changes the store directly, to create states that need months or an attacker. */
function tamper(relay: RelayProcess, statement: string, ...values: string[]): void {
  using database = new Database(join(relay.dataDir, 'sotto.db'))
  database.run('PRAGMA busy_timeout = 5000')
  database.run(statement, values)
}

for (const way of ['through a running relay', 'on the store of a stopped relay'] as const) {
  const isRunning = way === 'through a running relay'

  describe(way, () => {
    let relay: RelayProcess
    let alice: WireAccount
    let bob: WireAccount
    /** The day on which the tests began, because midnight may come between them. */
    const firstDay = new Date().toISOString().slice(0, 10)
    beforeAll(async () => {
      relay = await startRelay({ env: { MANUAL_PAY_TO: 'the bank’s till' } })
      alice = await wireAccount(relay.url)
      bob = await wireAccount(relay.url)
    })
    afterAll(() => relay.stop())

    /**
     * Runs `work` while the relay runs. In the suite of the stopped relay, starts it before and stops it
     * after.
     */
    async function withRelay<T>(work: () => Promise<T>): Promise<T> {
      if (isRunning) return await work()
      if (!isUp) await relay.start()
      const result = await work()
      await relay.kill('SIGTERM')
      isUp = false
      return result
    }
    let isUp = true

    async function buy(account: WireAccount, alias: string): Promise<string> {
      const { body } = await withRelay(() => account.post('/vanity/purchase', { alias_id: alias }))
      return body.order_id
    }

    const orders = (...args: string[]) => sotto(args, { DATA_DIR: relay.dataDir })
    async function json<T>(...args: string[]): Promise<T> {
      const { code, output, errors } = await orders(...args, '--json')
      expect({ code, errors }).toEqual({ code: 0, errors: '' })
      return JSON.parse(output)
    }

    test('an empty list prints a sentence', async () => {
      await withRelay(async () => undefined)
      const outputOf = async (...args: string[]) => (await orders(...args)).output
      expect(await outputOf('list')).toBe('There are no orders.\n')
      expect(await outputOf('list', '--refunds')).toBe('There are no such orders.\n')
      expect(await outputOf('payouts')).toBe('You owe no seller anything.\n')
      expect(await json<unknown>('list')).toEqual([])
    })

    test('an order is listed; its confirmation records the operator and the reason, and notifies the buyer', async () => {
      const order = await buy(alice, 'riverbed')
      const list = await orders('list', '--status', 'pending')
      expect(list.output).toMatch(
        new RegExp(
          `^ORDER +KIND +FOR +PRICE +STATUS +PLACED +ENDS\\n${order} +vanity +riverbed +10 +pending +\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\dZ  \\d\\d-\\d\\dT\\d\\d:\\d\\dZ\\n$`,
        ),
      )
      for (const line of list.output.split('\n')) expect(line.length).toBeLessThanOrEqual(100)

      const socket = isRunning ? await alice.connect() : undefined
      expect(await orders('confirm', order, '--reference', 'wire 7', ...BY)).toEqual({
        ...{ code: 0, errors: '', output: `${order} is confirmed.\n` },
      })
      const notice = { type: 'payment_confirmed', order_id: order, ref_id: 'riverbed' }
      if (socket) expect(await socket.next('payment_confirmed')).toEqual(notice)
      else
        await withRelay(async () => {
          expect(await (await alice.connect()).next('payment_confirmed')).toEqual(notice)
        })

      const { output } = await orders('show', order)
      expect(output).toContain(`For       riverbed (vanity)\n`)
      expect(output).toContain('To pay    10000000 (smallest units of manual)\nPay to    the bank’s till\n')
      expect(output).toContain(`Buyer     ${alice.alias}\n`)
      expect(output).toMatch(/\nPayments\n {2}manual\/wire 7\n {4}10000000 .*: final, counted\n/)
      expect(output).toContain(`Z  ${ME}: told that it was paid (the bank says so)\n`)
      const detail = await json<OrderDetail>('show', order)
      expect(detail.order).toMatchObject({ order_id: order, status: 'confirmed', buyer: alice.alias })
      expect(detail.events.filter(({ who }) => who === ME)).toHaveLength(2)

      expect(await orders('confirm', order, ...BY)).toEqual({
        ...{ code: 1, output: '', errors: `sotto: ${order} is confirmed already\n` },
      })
    })

    test('an order for a name that is no longer available is not confirmed: exit code 1, and a refund is owed until it is recorded', async () => {
      const order = await buy(alice, 'mountain')
      tamper(relay, 'UPDATE orders SET expires_at = 1 WHERE order_id = ?', order)
      const taken = await buy(bob, 'mountain')
      expect(taken).not.toBe(order)
      const { code, output, errors } = await orders('confirm', order, '--json', ...BY)
      expect({ code, status: JSON.parse(output).status }).toEqual({ code: 1, status: 'expired' })
      expect(errors).toMatch(/^sotto: NOT confirmed: .*to be given back; see "sotto orders show ord_.*\n$/)

      expect((await orders('list', '--refunds')).output).toMatch(
        new RegExp(`REFUNDS\\n${order} .* expired .* 1\\n$`),
      )
      const payment = `manual/${order}`
      expect((await orders('show', order)).output).toContain('    10000000 to be given back (late)\n')
      const noted = await orders('refund-recorded', payment, '--reference', 'wire 8', ...BY)
      expect(noted).toEqual({
        ...{ code: 0, errors: '' },
        output: `Recorded: 10000000 (smallest units of manual) of ${payment} was given back.\n`,
      })
      expect((await orders('refund-recorded', payment, '--reference', 'wire 8', ...BY)).code).toBe(1)
      expect((await orders('show', order)).output).toMatch(/10000000 given back \(late\) \S+Z: wire 8\n/)
      expect(await json<OrderLine[]>('list', '--refunds')).toEqual([])
    })

    test('a seller is owed the price of a channel until the payout is recorded', async () => {
      const order = await withRelay(async () => {
        const details = { name: 'Cats', description: '', is_public: true }
        const { channel_id } = (await bob.post('/channels', details)).body
        await bob.post('/vanity/list-channel', { channel_id, price_usdt: 40 })
        return (await alice.bare('POST', `/channels/${channel_id}/buy`)).body.order_id
      })
      await orders('confirm', order, ...BY)
      const due = (await orders('payouts')).output
      expect(due).toMatch(
        new RegExp(`^ORDER +SELLER +OWED +SINCE +CHANNEL\\n${order} +${bob.alias} +40 +\\S+Z +ch_\\S+\\n$`),
      )
      expect(Math.max(...due.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(100)
      expect(await orders('payout-paid', order, '--reference', 'wire 9', ...BY)).toEqual({
        ...{ code: 0, errors: '', output: `Recorded: ${bob.alias} was paid 40 for ${order}.\n` },
      })
      expect(await json<unknown>('payouts')).toEqual([])
      expect((await orders('show', order)).output).toMatch(
        new RegExp(`\\nPayout\\n  40 paid to ${bob.alias} \\S+Z: wire 9\\n`),
      )
    })

    test('the accounts are CSV with a line for each sale, payment, refund and payout', async () => {
      const { code, output, errors } = await orders('accounts')
      expect({ code, errors }).toEqual({ code: 0, errors: '' })
      const [titles, ...lines] = output.split('\r\n').slice(0, -1)
      expect(titles).toBe(
        'at,entry,order_id,kind,ref_id,account,provider,asset,amount,smallest_units,outcome,refund_units,reason,reference',
      )
      const entries = lines.map((line) => line.split(',')[1]).sort()
      expect(entries.filter((entry) => entry === 'sale')).toHaveLength(2)
      expect(entries.filter((entry) => entry === 'payment')).toHaveLength(3)
      expect(entries).toContain('refund')
      expect(entries).toContain('payout')
      expect(lines.filter((line) => line.includes(',refund,manual') || line.includes('wire 8'))).toHaveLength(
        1,
      )
      expect(await json<AccountEntry[]>('accounts')).toHaveLength(lines.length)
      expect((await orders('accounts', '--until', '2020-01-01')).output).toBe(`${titles}\r\n`)
      expect((await orders('accounts', '--from', firstDay)).output).toBe(output)
    })

    test('a field of the accounts that looks like a formula is made text', async () => {
      const order = await buy(bob, 'seaside')
      await orders('confirm', order, '--reference', 'wire 10', ...BY)
      const formula = '=HYPERLINK("http://x.invalid","a")'
      tamper(relay, "UPDATE payments SET reference = ? WHERE reference = 'manual/wire 10'", formula)
      const { output } = await orders('accounts')
      expect(output).toContain(`,"'=HYPERLINK(""http://x.invalid"",""a"")"\r\n`)
    })

    test('the list can be filtered and limited', async () => {
      const all = await json<OrderLine[]>('list')
      expect(all.length).toBeGreaterThan(2)
      const channels = all.filter(({ kind }) => kind === 'channel')
      expect(await json<OrderLine[]>('list', '--kind', 'channel')).toEqual(channels)
      expect(await json<OrderLine[]>('list', '--limit', '1')).toEqual(all.slice(0, 1))
      expect((await orders('list', '--limit', '1')).output).toEndWith('\nThe newest 1; --limit shows more.\n')
    })

    test("other people's text can neither move the cursor nor reorder a line", async () => {
      const order = await buy(bob, 'oceanside')
      const nasty = 'a\u001b[2J\u009b31m\u202eb\u0007\nc'
      tamper(relay, 'UPDATE orders SET pay_to = ?, asset = ? WHERE order_id = ?', nasty, nasty, order)
      tamper(relay, "UPDATE order_events SET why = ? WHERE what = 'placed'", nasty)
      const { output } = await orders('show', order)
      const json = await orders('show', order, '--json')
      for (const text of [output, json.output]) expect(text).not.toMatch(/[^\P{C}\n]/u)
      expect(output).toContain('Pay to    a\ufffd[2J\ufffd31mb\ufffd c\n')
      expect(JSON.parse(json.output).order.pay_to).toBe(nasty)
    })

    test('a chain that stopped is named with every list, and is read again on command', async () => {
      expect((await orders('chains')).output).toBe('No chain was read yet.\n')
      expect(await orders('rescan', '--from', '7')).toMatchObject({ code: 1, output: '' })
      tamper(relay, "INSERT INTO chain_blocks (scope, height, hash, at) VALUES ('evm:1', 12, '0xab', 0)")
      tamper(
        relay,
        `INSERT INTO chains (scope, agreed_height, agreed_hash, agreed_at, trouble, trouble_hosts, trouble_since)
         VALUES ('evm:1', 10, '0xaa', 0, 'stopped', 'one.example', 0)`,
      )
      const { code, errors } = await orders('list')
      expect(code).toBe(0)
      expect(errors).toMatch(
        /^evm:1: read up to block 12, .+ up to 10; STOPPED: .+ \(one\.example\), since 1970/,
      )
      if (isRunning) expect((await (await fetch(`${relay.url}/ready`)).json()).payments).toBe('evm:1 stopped')
      expect(await orders('rescan', '--from', '14')).toMatchObject({ code: 1, output: '' })
      const { output } = await orders('rescan', '--from', '7', '--chain', '1')
      expect(output).toBe('evm:1 will be read again from block 7.\n')
      expect((await orders('chains')).output).toEndWith('; will be read again from block 7\n')
      tamper(relay, 'DELETE FROM chains')
    })

    test('an unknown order is refused in one line', async () => {
      expect(await orders('show', `ord_${'x'.repeat(24)}`)).toEqual({
        ...{ code: 1, output: '', errors: `sotto: there is no order ord_${'x'.repeat(24)}\n` },
      })
      expect((await orders('show', 'river')).errors).toBe('sotto: order_id: must be an order id\n')
    })
  })
}

test('without a relay and a store, the command says so and creates no store', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sotto-orders-'))
  const { code, errors } = await sotto(['list', '--data-dir', join(folder, 'none')])
  expect({ code, errors }).toEqual({
    code: 1,
    errors: `sotto: ${join(folder, 'none')} holds no store of a relay\n`,
  })
  expect(await readdir(folder)).toEqual([])
  await rm(folder, { recursive: true })
})

test('a user who ran sudo is recorded with their own name', async () => {
  const relay = await startRelay({ env: { MANUAL_PAY_TO: 'x' } })
  const alice = await wireAccount(relay.url)
  const { body } = await alice.post('/vanity/purchase', { alias_id: 'riverbed' })
  await sotto(['confirm', body.order_id, ...BY, '--data-dir', relay.dataDir], { SUDO_USER: 'ada' })
  const shown = await sotto(['show', body.order_id, '--data-dir', relay.dataDir])
  expect(shown.output).toContain('Z  ada (sudo): confirmed (it was paid)\n')
  await relay.stop()
})

test('a wrong call prints its mistake in one line and exits with code 2', async () => {
  const order = `ord_${'x'.repeat(24)}`
  const mistakes: [string[], RegExp][] = [
    [
      [],
      /"sotto orders" needs one of list, show, confirm, refund-recorded, settle-lost, payouts, payout-paid, accounts/,
    ],
    [['dance'], /needs one of/],
    [['--json'], /needs one of/],
    [['list', 'river'], /Unexpected argument 'river'/],
    [['list', '--dance'], /Unknown option '--dance'/],
    [['list', '--why', 'so'], /Unknown option '--why'/],
    [['list', '--status', 'paid'], /--status takes pending, confirmed or expired, not "paid"/],
    [['list', '--kind', 'boat'], /--kind takes vanity, reserve, channel or quota, not "boat"/],
    [['list', '--limit', '0'], /--limit takes a number from 1 to 1000/],
    [['list', '--limit', '1001'], /--limit takes a number from 1 to 1000/],
    [['accounts', '--from', '2026-13-01'], /--from takes a day such as 2026-01-31, not "2026-13-01"/],
    [['accounts', '--until', 'now'], /--until takes a day/],
    [['rescan'], /--from is missing; it says the first block to read/],
    [['rescan', '--from', '0x1'], /--from takes the number of a block, not "0x1"/],
    [['show'], /ORDER is missing/],
    [['show', order, order], /Unexpected argument/],
    [['confirm', order], /--why is missing; it says why this is done/],
    [['confirm', order, '--why', ' '], /--why is missing; it says why this is done/],
    [['refund-recorded'], /PAYMENT is missing/],
    [['refund-recorded', 'x', ...BY], /--reference is missing; it says how to find the refund/],
    [['payout-paid', order, '--reference', 'x'], /--why is missing/],
  ]
  for (const [args, message] of mistakes) {
    const { code, output, errors } = await sotto(args)
    expect({ args, code, output }).toEqual({ args, code: 2, output: '' })
    expect(errors).toMatch(message)
    expect(errors).toMatch(/^sotto: .+\n$/)
  }
})

test('the help is the same for every subcommand, and fits a terminal', async () => {
  const { code, output } = await sotto(['--help'])
  expect(code).toBe(0)
  expect(output).toStartWith('Usage: sotto orders list')
  expect(await sotto(['confirm', '--help'])).toEqual({ code, output, errors: '' })
  for (const line of output.split('\n')) expect(line.length).toBeLessThanOrEqual(100)
})
