// TRC-20 payments: a local HTTP server simulates the documented TronGrid API. There is no TRON node to test
// with.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { failureOf } from '../../../../protocol/test/failure-of.ts'
import { eventually, recordingLog } from '../../../test/payment-watch.ts'
import type { TronGridServer } from '../../../test/tron-grid-server.ts'
import {
  ACCOUNT,
  FAR_BLOCK,
  FIRST,
  type Name,
  openTronWorld,
  order,
  read,
  referenceOf,
  type TronWorld,
  USDC,
  USDT,
  usdt,
} from '../../../test/tron-world.ts'
import { systemClock } from '../../operations/clock.ts'
import { SettingError } from '../../operations/setting-error.ts'
import { TronPayments } from './tron.ts'

describe('settings', () => {
  test('a private key is refused, and no part of it is quoted', () => {
    const secret = ACCOUNT.privateExtendedKey
    try {
      read({ TRON_XPUB: secret })
      expect.unreachable()
    } catch (error) {
      expect(error).toBeInstanceOf(SettingError)
      const message =
        'TRON_XPUB must be an extended public key (xpub…); the given key is private, and no relay may hold it'
      expect(error).toMatchObject({ message, setting: 'TRON_XPUB' })
      expect(Bun.inspect(error)).not.toContain(secret.slice(4, 20))
    }
  })

  const wrong: [Name, string, string][] = [
    ['TRON_XPUB', '', 'TRON_XPUB must be an extended public key'],
    ['TRON_XPUB', 'xpub661MyMwAqRbcFtXgS5s', 'TRON_XPUB must be an extended public key'],
    [
      'TRON_TOKEN',
      '0xdAC17F958D2ee523a2206206994597C13D831ec7',
      'TRON_TOKEN must be the address of a TRC-20 token',
    ],
    ['TRON_TOKEN', 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6u', 'TRON_TOKEN must be the address of a TRC-20 token'],
    ['TRON_CONFIRMATIONS', '0', 'TRON_CONFIRMATIONS must be a whole number from 1 to 1000'],
    ['TRON_CONFIRMATIONS', '1001', 'TRON_CONFIRMATIONS must be a whole number from 1 to 1000'],
    ['TRON_API_URL', 'http://api.trongrid.io', 'TRON_API_URL must be a URL that begins with https://'],
    ['TRON_API_URL', 'https://a.invalid,', 'TRON_API_URL must be a URL that begins with https://'],
    [
      'TRON_API_URL',
      'https://a.invalid/1,https://a.invalid/2',
      'TRON_API_URL must be URLs that differ in their hosts',
    ],
    ['TRON_AGREE', '0', 'TRON_AGREE must be a whole number from 1 to 1, the number of endpoints, or empty'],
    ['TRON_AGREE', '2', 'TRON_AGREE must be a whole number from 1 to 1, the number of endpoints, or empty'],
    ['TRON_CHAIN_ID', '0', 'TRON_CHAIN_ID must be a whole number from 1 to 4294967295'],
    ['TRON_API_KEY', 'a b', 'TRON_API_KEY must be the key TronGrid gave you'],
  ]
  for (const [name, value, message] of wrong) {
    test(`${name}="${value}" is refused by name`, () => {
      expect(() => read({ [name]: value })).toThrow(message)
    })
  }
})

test('an order has the address that wallets derive for its index', async () => {
  const provider = new TronPayments(read({}), { clock: systemClock, log: recordingLog().log })
  const asset = `tron:mainnet/${USDT.address}`
  expect(await provider.open(order)).toEqual({ payTo: FIRST.address, asset, amount: 5_000_000n })
  const payTo = 'TSeJkUh4Qv67VNFwY8LaAxERygNdy6NQZK'
  expect(await provider.open({ ...order, depositIndex: 1 })).toMatchObject({ payTo })
})

describe('watching', () => {
  let world: TronWorld
  let book: TronWorld['book']
  let grid: TronGridServer
  let log: TronWorld['log']
  let provider: TronPayments
  let linesBecome: TronWorld['linesBecome']
  let addOrder: TronWorld['addOrder']

  beforeEach(async () => {
    world = await openTronWorld()
    ;({ book, grid, log, provider, linesBecome, addOrder } = world)
  })
  afterEach(() => world.close())

  test('a payment is seen at once and final after its confirmations', async () => {
    const placed = await addOrder()
    expect(placed.pay_to).toBe(FIRST.address)
    await provider.start(book.ledger)
    const { id } = grid.add(1, 1000, [usdt(5_000_000n)])
    await linesBecome([`${referenceOf(id)} 5000000 seen`])
    expect(provider.confirmations(1000)).toEqual({ have: 1, need: 3 })
    const version = book.version()
    grid.head = 1001
    await eventually(() => expect(provider.confirmations(1000)).toEqual({ have: 2, need: 3 }))
    expect(book.lines()).toEqual([`${referenceOf(id)} 5000000 seen`])
    expect(book.version()).toBe(version) // An unchanged payment is not written again.
    expect(book.status(placed)).toBe('pending')
    grid.head = 1002
    await linesBecome([`${referenceOf(id)} 5000000 final`])
    expect(book.payment(referenceOf(id))).toMatchObject({
      order_number: placed.id,
      scope: 'tron:mainnet',
      asset: `tron:mainnet/${USDT.address}`,
      at: grid.timeOf(1000),
      height: 1000,
    })
    expect(grid.http.asked[0]?.headers.get('tron-pro-api-key')).toBe('the-key')
    expect(book.status(placed)).toBe('confirmed')
  })

  test('two transfers of one transaction are two payments, and transfers to others are ignored', async () => {
    await addOrder()
    const { id } = grid.add(1, 900, [usdt(2n), usdt(3n), usdt(4n, USDC.hex), usdt(0n)])
    await provider.start(book.ledger)
    await linesBecome([`${referenceOf(id, 0)} 2 final`, `${referenceOf(id, 1)} 3 final`])
  })

  test('a payment that a reorganisation removed is retracted once its block can no longer change', async () => {
    await addOrder()
    await provider.start(book.ledger)
    const { id } = grid.add(1, 1000, [usdt(5n)])
    await linesBecome([`${referenceOf(id)} 5 seen`])
    grid.transactions.pop()
    const before = grid.http.asked.length
    await eventually(() => expect(grid.http.asked.length).toBeGreaterThan(before + 10))
    // A node may be behind. While its block can still change, a node that does not know it proves nothing.
    expect(book.lines()).toEqual([`${referenceOf(id)} 5 seen`])
    grid.head = 1002
    await linesBecome([`${referenceOf(id)} 5 gone`])
    grid.add(1, 1001, [usdt(5n)])
    grid.head = 1003
    await linesBecome([`${referenceOf(id)} 5 final`])
  })

  test('a payment that moved to another block counts in that block, and is retracted if it failed there', async () => {
    await addOrder()
    await provider.start(book.ledger)
    const transaction = grid.add(1, 999, [usdt(5n)])
    await linesBecome([`${referenceOf(transaction.id)} 5 seen`])
    transaction.height = 1000
    await eventually(() => expect(book.payment(referenceOf(transaction.id))?.height).toBe(1000))
    transaction.result = 'FAILED'
    grid.head = 1002
    await linesBecome([`${referenceOf(transaction.id)} 5 gone`])
  })

  test('a payment that was undone while the relay was away is retracted after its return', async () => {
    await addOrder()
    const { id } = grid.add(1, 1000, [usdt(5n)])
    const other = grid.add(2, 1000, [usdt(7n)])
    await provider.start(book.ledger)
    await eventually(() => expect(book.payments().length).toBe(2))
    await provider.stop()
    grid.transactions.shift()
    await world.again()
    await world.start()
    await linesBecome([`${referenceOf(id)} 5 gone`, `${referenceOf(other.id)} 7 seen`])
    grid.head = 1010
    await eventually(() => expect(book.payment(referenceOf(other.id))?.state).toBe('final'))
  })

  test('another token sent to a deposit address is recorded as the wrong token', async () => {
    await addOrder()
    const { id } = grid.add(1, 900, [{ token: USDC.hex, to: FIRST.hex, amount: 9n }])
    await provider.start(book.ledger)
    await linesBecome([`${referenceOf(id)} 9 final wrong_token`])
    expect(book.payment(referenceOf(id))?.asset).toBe(`tron:mainnet/${USDC.address}`)
  })

  test('at most twenty transfers of other tokens to an address are recorded, but all of the right token', async () => {
    await addOrder()
    const worthless = { token: USDC.hex, to: FIRST.hex, amount: 9n }
    grid.add(1, 900, Array<typeof worthless>(15).fill(worthless))
    const { id } = grid.add(2, 901, [...Array<typeof worthless>(15).fill(worthless), usdt(5n)])
    await provider.start(book.ledger)
    await eventually(() => expect(book.payment(`tron:mainnet/${id}/15`)?.state).toBe('final'))
    expect(book.lines()).toHaveLength(21)
  })

  test('an expired order is still watched', async () => {
    const placed = await addOrder()
    grid.head = FAR_BLOCK
    await provider.start(book.ledger)
    await eventually(() => expect(provider.seenUntil()).toBeGreaterThan(placed.expires_at))
    await book.end(provider)
    expect(book.status(placed)).toBe('expired')
    const { id } = grid.add(1, FAR_BLOCK - 2, [usdt(5n)])
    await linesBecome([`${referenceOf(id)} 5 final`])
    expect(book.payment(referenceOf(id))).toMatchObject({ outcome: 'refund', reason: 'short' })
  })

  test('every page of transfers is read', async () => {
    await addOrder()
    grid.page = 2
    for (let number = 1; number <= 5; number++) grid.add(number, 900 + number, [usdt(BigInt(number))])
    await provider.start(book.ledger)
    await eventually(() => expect(book.payments().length).toBe(5))
  })

  test('payments are known up to the time of the newest block, minus the lag of the lists', async () => {
    await addOrder()
    expect(provider.seenUntil()).toBe(0)
    await provider.start(book.ledger)
    await eventually(() => expect(provider.seenUntil()).toBe(grid.timeOf(1000) - 30_000))
    grid.instead = () => new Response(null, { status: 500 })
    grid.head = 2000
    const before = grid.http.asked.length
    await eventually(() => expect(grid.http.asked.length).toBeGreaterThan(before + 3))
    expect(provider.seenUntil()).toBe(grid.timeOf(1000) - 30_000)
    grid.instead = () => undefined
    await eventually(() => expect(provider.seenUntil()).toBe(grid.timeOf(2000) - 30_000))
    expect(log.events).toEqual([
      ['warn', 'payments_unreachable'], // Logged once, no matter how long it lasts.
      ['info', 'payments_reachable_again'],
    ])
  })

  test('without orders nothing is requested', async () => {
    const before = systemClock.now()
    await provider.start(book.ledger)
    await eventually(() => expect(provider.seenUntil()).toBeGreaterThanOrEqual(before))
    await Bun.sleep(100)
    expect(grid.paths()).toEqual(['/wallet/getblockbynum', '/wallet/triggerconstantcontract'])
  })

  test('if requests are limited, the watching waits, longer each time, or as long as Retry-After says', async () => {
    const times: number[] = []
    grid.instead = () => {
      times.push(performance.now())
      if (times.length === 1) return new Response(null, { status: 429 })
      if (times.length === 2) return new Response(null, { status: 403 })
      if (times.length === 3) return new Response(null, { status: 429, headers: { 'retry-after': '1' } })
      return undefined
    }
    await addOrder()
    await provider.start(book.ledger)
    await eventually(() => expect(times.length).toBeGreaterThan(3))
    const [first = 0, second = 0, third = 0, fourth = 0] = times
    expect(second - first).toBeGreaterThanOrEqual(19)
    expect(third - second).toBeGreaterThanOrEqual(39)
    expect(fourth - third).toBeGreaterThanOrEqual(999)
  })

  test('an undocumented answer changes nothing', async () => {
    await addOrder()
    const { id } = grid.add(1, 1000, [usdt(5n)])
    await provider.start(book.ledger)
    await linesBecome([`${referenceOf(id)} 5 seen`])
    grid.instead = ({ path }) =>
      path.includes('gettransactioninfo') ? Response.json({ Error: 'inner' }) : undefined
    grid.head = 2000
    await eventually(() => expect(log.events).toContainEqual(['warn', 'payments_unreachable']))
    expect(book.lines()).toEqual([`${referenceOf(id)} 5 seen`])
    expect(JSON.stringify(log.fields)).not.toContain('inner')
  })

  test('one huge transaction does not prevent reading the others', async () => {
    await addOrder()
    const monster = grid.add(1, 900, [usdt(1n)])
    const { id } = grid.add(2, 900, [usdt(5n)])
    grid.instead = ({ body }) => (body.includes(monster.id) ? new Response('x'.repeat(4_194_305)) : undefined)
    await provider.start(book.ledger)
    await linesBecome([`${referenceOf(id)} 5 final`])
    await Bun.sleep(100)
    // Logged once, not in every round.
    expect(log.events).toEqual([['error', 'payments_transaction_refused']])
  })

  test('a token with other decimals is refused, because every amount would be wrong', async () => {
    grid.decimals = 18
    await provider.start(book.ledger)
    await eventually(() => expect(log.events).toEqual([['error', 'payments_token_refused']]))
    expect(await failureOf(provider.open(order))).toMatchObject({ code: 'PAYMENTS_UNAVAILABLE' })
  })

  test('a token with absurdly large decimals is refused', async () => {
    const endless = { constant_result: ['f'.repeat(1_000_000)] }
    grid.instead = ({ path }) => (path.includes('triggerconstant') ? Response.json(endless) : undefined)
    await provider.start(book.ledger)
    await eventually(() => expect(log.events).toEqual([['warn', 'payments_unreachable']]))
  })

  test('one endpoint of another chain is not believed: nothing counts and nothing is sold', async () => {
    grid.chainId = 3_448_148_188
    await provider.start(book.ledger)
    await eventually(() => expect(log.events).toEqual([['warn', 'payments_unreachable']]))
    expect(log.fields).toEqual([
      { reason: 'TronGrid: its chain is 3448148188, where 728126428 was expected' },
    ])
    expect(provider.seenUntil()).toBe(0)
    expect(await failureOf(provider.open(order))).toMatchObject({ code: 'PAYMENTS_UNAVAILABLE' })
  })

  test('stopping ends the watching, also during a pause', async () => {
    grid.instead = () => new Response(null, { status: 429, headers: { 'retry-after': '60' } })
    await addOrder()
    await provider.start(book.ledger)
    await eventually(() => expect(grid.http.asked.length).toBe(1))
    await provider.stop()
    expect(log.events).toEqual([])
  })
})
