// Orders paid through a payment processor or on TRON, from the order to `payment_confirmed`. Notifications
// may be forged, repeated, out of order or lost, and the relay may be killed at any point.
import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { HDKey } from '@scure/bip32'
import { failureOf } from '../../protocol/test/failure-of.ts'
import { eventually } from './payment-watch.ts'
import { BtcPayServer, type Notification, NowPaymentsServer, notify } from './processor-servers.ts'
import { TronGridServer } from './tron-grid-server.ts'
import { onEveryEngine, type UsedRelay, useRelay } from './use-relay.ts'
import { call, type WireAccount, wireAccount } from './wire.ts'

const PUBLIC_URL = 'https://relay.example'
let names = 0

interface Ordered {
  readonly alice: WireAccount
  readonly order: string
  /** The `payment_confirmed` frame this order must get. */
  readonly frame: object
  readonly paymentUrl: string
}

/** A new account orders an id that no other test uses. */
async function ordered(relay: UsedRelay): Promise<Ordered> {
  const alice = await wireAccount(relay.url)
  names += 1
  const { status, body } = await alice.post('/vanity/purchase', { alias_id: `lake_${names}` })
  expect(status).toBe(200)
  const frame = { type: 'payment_confirmed', order_id: body.order_id, ref_id: `lake_${names}` }
  return { alice, frame, order: body.order_id, paymentUrl: body.payment_url }
}

async function statusOf({ alice, order }: Ordered): Promise<string> {
  return (await call(alice.api(`/vanity/order/${order}/status`))).body.status
}

async function killAndRestart(relay: UsedRelay): Promise<void> {
  await relay.process.kill('SIGKILL')
  await relay.process.start()
}

/** The `payment_confirmed` frames in the account's backlog. */
async function confirmations({ alice }: Ordered): Promise<object[]> {
  const { socket, backlog } = await alice.online()
  await socket.close()
  return backlog.filter(({ type }) => type === 'payment_confirmed')
}

/** Expects the relay to refuse notifications that the processor did not sign. */
async function expectForgeriesRefused(
  relay: UsedRelay,
  genuine: Notification,
  forged: Notification,
): Promise<void> {
  const [name = '', signature = ''] = Object.entries(genuine.headers)[0] ?? []
  const signatures = [
    '',
    'x',
    signature.slice(1),
    signature.replace(/.$/, 'g'),
    Object.values(forged.headers)[0] ?? '',
  ]
  for (const wrong of signatures)
    expect(await notify(relay.url, { ...genuine, headers: { [name]: wrong } })).toBe(401)
  expect(await notify(relay.url, { ...genuine, headers: {} })).toBe(401)
  expect(await notify(relay.url, forged)).toBe(401)
  const changed = genuine.body.replace(/ord_./, 'ord_~')
  expect(await notify(relay.url, { ...genuine, body: changed })).toBe(401)
  expect((await fetch(`${relay.url}/payments/webhook`)).status).toBe(405)
  expect((await fetch(`${relay.url}/payments/nowpayments`, { method: 'POST' })).status).toBe(404)
}

describe('by NOWPayments', () => {
  const processor = new NowPaymentsServer()
  afterAll(() => processor[Symbol.dispose]())

  onEveryEngine(
    (relay) => {
      const sendStatus = (payment: ReturnType<typeof processor.choose>, payment_status: string, part = 1) => {
        Object.assign(payment, { payment_status, part })
        return notify(relay.url, processor.notification(payment))
      }
      const chosen = async () => {
        const placed = await ordered(relay)
        const asked = processor.http.asked.findLast(({ path }) => path === '/v1/invoice')
        expect(JSON.parse(asked?.body ?? '')).toMatchObject({
          order_id: placed.order,
          ipn_callback_url: `${PUBLIC_URL}/payments/webhook`,
        })
        return { ...placed, payment: processor.choose(placed.order) }
      }

      test('an order is paid on its page and confirmed once, even if notifications repeat', async () => {
        const placed = await chosen()
        const { alice, payment, frame } = placed
        expect(placed.paymentUrl).toStartWith('https://nowpayments.io/payment/?iid=')
        const { socket } = await alice.online()
        const steps: [string, number][] = [
          ['waiting', 0],
          ['confirming', 0.4],
          ['partially_paid', 0.4],
        ]
        for (const [status, part] of steps) {
          expect(await sendStatus(payment, status, part)).toBe(200)
          expect(await statusOf(placed)).toBe('pending')
        }
        for (let times = 0; times < 10; times++) expect(await sendStatus(payment, 'finished')).toBe(200)
        expect(await socket.next('payment_confirmed')).toEqual(frame)
        expect(await statusOf(placed)).toBe('confirmed')
        const again = await socket.untilPong()
        expect(again.filter(({ type }) => type === 'payment_confirmed')).toEqual([])
        await socket.close()
      })

      test('notifications out of order have the same result', async () => {
        const placed = await chosen()
        for (const status of ['finished', 'partially_paid', 'waiting', 'failed', 'finished'])
          expect(await sendStatus(placed.payment, status, status === 'finished' ? 1 : 0.4)).toBe(200)
        expect(await statusOf(placed)).toBe('confirmed')
        expect(await confirmations(placed)).toEqual([placed.frame])
      })

      test('a notification with a wrong or missing signature changes nothing', async () => {
        const placed = await chosen()
        Object.assign(placed.payment, { payment_status: 'finished', part: 1 })
        const genuine = processor.notification(placed.payment)
        await expectForgeriesRefused(relay, genuine, processor.notification(placed.payment, 'another secret'))
        expect(await statusOf(placed)).toBe('pending')
        expect(await notify(relay.url, genuine)).toBe(200)
        expect(await statusOf(placed)).toBe('confirmed')
      })

      test('a notification that the relay accepted is not lost in a crash', async () => {
        const placed = await chosen()
        expect(await sendStatus(placed.payment, 'confirming')).toBe(200)
        await killAndRestart(relay)
        expect(await statusOf(placed)).toBe('pending')
        expect(await sendStatus(placed.payment, 'finished')).toBe(200)
        await killAndRestart(relay)
        expect(await statusOf(placed)).toBe('confirmed')
        expect(await confirmations(placed)).toEqual([placed.frame])
      })

      test('if a notification was sent while the relay was down, the relay asks the processor', async () => {
        const placed = await chosen()
        expect(await sendStatus(placed.payment, 'waiting', 0)).toBe(200)
        await relay.process.kill('SIGKILL')
        expect(await failureOf(sendStatus(placed.payment, 'finished'))).toBeInstanceOf(Error)
        await relay.process.start()
        await eventually(async () => expect(await statusOf(placed)).toBe('confirmed'))
        expect(await confirmations(placed)).toEqual([placed.frame])
      })
    },
    { ...processor.settings, PUBLIC_URL },
  )
})

describe('by BTCPay Server', () => {
  const processor = new BtcPayServer()
  afterAll(() => processor[Symbol.dispose]())

  onEveryEngine(
    (relay) => {
      const invoiced = async () => {
        const placed = await ordered(relay)
        return { ...placed, invoice: processor.invoiceOf(placed.order) }
      }
      type Invoiced = Awaited<ReturnType<typeof invoiced>>
      const sendStatus = ({ invoice }: Invoiced, type: string) =>
        notify(relay.url, processor.notification(invoice, type))

      test('an order is paid on its page and confirmed once, even if notifications repeat', async () => {
        const placed = await invoiced()
        expect(placed.paymentUrl).toBe(`https://pay.example/i/${placed.invoice.id}`)
        const { socket } = await placed.alice.online()
        expect(await sendStatus(placed, 'InvoiceCreated')).toBe(200)
        processor.pay(placed.invoice, 'Processing')
        expect(await sendStatus(placed, 'InvoiceReceivedPayment')).toBe(200)
        expect(await statusOf(placed)).toBe('pending')
        processor.pay(placed.invoice, 'Settled')
        for (const type of ['InvoiceSettled', 'InvoiceProcessing', 'InvoiceReceivedPayment'])
          for (let times = 0; times < 4; times++) expect(await sendStatus(placed, type)).toBe(200)
        expect(await socket.next('payment_confirmed')).toEqual(placed.frame)
        expect(await statusOf(placed)).toBe('confirmed')
        const again = await socket.untilPong()
        expect(again.filter(({ type }) => type === 'payment_confirmed')).toEqual([])
        await socket.close()
      })

      test('a notification with a wrong or missing signature changes nothing and causes no request to the processor', async () => {
        const placed = await invoiced()
        processor.pay(placed.invoice, 'Settled')
        const genuine = processor.notification(placed.invoice, 'InvoiceSettled')
        const before = processor.http.asked.length
        await expectForgeriesRefused(
          relay,
          genuine,
          processor.notification(placed.invoice, 'InvoiceSettled', 'another secret'),
        )
        expect(processor.http.asked.length).toBe(before)
        expect(await statusOf(placed)).toBe('pending')
      })

      test('a notification that the relay accepted is not lost in a crash', async () => {
        const placed = await invoiced()
        processor.pay(placed.invoice, 'Processing')
        expect(await sendStatus(placed, 'InvoiceReceivedPayment')).toBe(200)
        await killAndRestart(relay)
        processor.pay(placed.invoice, 'Settled')
        expect(await sendStatus(placed, 'InvoiceSettled')).toBe(200)
        await killAndRestart(relay)
        expect(await confirmations(placed)).toEqual([placed.frame])
      })

      test('a payment without any notification is found: the relay asks the processor', async () => {
        const placed = await invoiced()
        await relay.process.kill('SIGKILL')
        processor.pay(placed.invoice, 'Settled')
        await relay.process.start()
        await eventually(async () => expect(await statusOf(placed)).toBe('confirmed'))
        expect(await confirmations(placed)).toEqual([placed.frame])
      })

      test('while the processor cannot be asked, a notification is answered with 503 so that it is sent again', async () => {
        const placed = await invoiced()
        processor.pay(placed.invoice, 'Settled')
        processor.isDown = true
        expect(await sendStatus(placed, 'InvoiceSettled')).toBe(503)
        const { status, text } = await placed.alice.post('/vanity/purchase', { alias_id: 'nobodys_lake' })
        expect(status).toBe(503)
        expect(text).not.toContain('inner words')
        processor.isDown = false
        expect(await sendStatus(placed, 'InvoiceSettled')).toBe(200)
        expect(await statusOf(placed)).toBe('confirmed')
      })
    },
    { ...processor.settings, PUBLIC_URL },
  )

  describe('with rate limits', () => {
    const relay = useRelay({ ...processor.settings, PUBLIC_URL, RATE_LIMITS: 'on', RATE_CALLBACK: '3/3600' })
    test('notifications have a separate rate, and a refusal says when to retry', async () => {
      const url = `${relay.url}/payments/webhook`
      for (let n = 0; n < 3; n++) expect((await fetch(url, { method: 'POST' })).status).toBe(401)
      const { status, headers } = await fetch(url, { method: 'POST' })
      expect(status).toBe(429)
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(1000)
      expect((await call(`${relay.url}/api/v1/vanity/search?q=lake`)).status).toBe(200)
    })
  })
})

describe('by TRON', () => {
  // The seed of the first BIP-39 test mnemonic: `abandon` eleven times, then `about`.
  const SEED =
    '5eb00bbddcf069084889a8ab9155568165f5c453ccb85e70811aaed6f6da5fc19a5ac40b389cd370d086206dec8aa6c43daea6690f20ad3d8d48b2d2ce9e38e4'
  const FIRST = ['TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH', 'c8599111f29c1e1e061265b4af93ea1f274ad78a'] as const
  const USDT = ['TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', 'a614f803b6fd780986a42c78ec9c7f77e6ded13c'] as const
  const grid = new TronGridServer(new Map([FIRST, USDT]))
  afterAll(() => grid[Symbol.dispose]())
  const relay = useRelay({
    PAYMENTS: 'tron',
    TRON_API_URL: grid.http.url,
    TRON_XPUB: HDKey.fromMasterSeed(Buffer.from(SEED, 'hex')).derive("m/44'/195'/0'").publicExtendedKey,
    TRON_CONFIRMATIONS: '3',
  })

  let store: Database
  beforeAll(() => {
    store = new Database(join(relay.process.dataDir, 'sotto.db'), { readonly: true })
  })
  afterAll(() => store.close())
  const payments = (): string[] =>
    store
      .query<{ state: string; outcome: string }, []>('SELECT state, outcome FROM payments')
      .all()
      .map(({ state, outcome }) => `${state} ${outcome}`)

  test('a transfer is seen and confirms its order at the required depth, even if the relay is killed in between', async () => {
    const placed = await ordered(relay)
    const [own] = (await placed.alice.get('/vanity/orders')).body
    expect(own.pay_to).toBe(FIRST[0])
    const amount = BigInt(own.price_usdt) * 1_000_000n
    grid.add(1, 1000, [{ token: USDT[1], to: FIRST[1], amount }])
    await eventually(() => expect(payments()).toEqual(['seen null']))
    expect(await statusOf(placed)).toBe('pending')
    await relay.process.kill('SIGKILL')
    grid.head = 1002
    await relay.process.start()
    const { socket } = await placed.alice.online()
    await eventually(() => expect(payments()).toEqual(['final counted']))
    expect(await statusOf(placed)).toBe('confirmed')
    await socket.close()
    await killAndRestart(relay)
    expect(await confirmations(placed)).toEqual([placed.frame])
  })
})
