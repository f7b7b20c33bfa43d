// TRON payments count only in blocks that no reorganisation can replace, and only as far as the money
// arrived. Local HTTP servers simulate the documented API.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { eventually } from '../../../test/payment-watch.ts'
import type { GridTransfer, TronGridServer } from '../../../test/tron-grid-server.ts'
import { FIRST, openTronWorld, referenceOf, type TronWorld, usdt } from '../../../test/tron-world.ts'

const PRICE = 5_000_000n
const FEE = 50_000n

let world: TronWorld
let order: Awaited<ReturnType<TronWorld['addOrder']>>
beforeEach(async () => {
  world = await openTronWorld()
  order = await world.addOrder()
})
afterEach(() => world.close())

const withFee = (amount: bigint): GridTransfer => ({ ...usdt(amount), fee: amount / 100n })
const idOf = (number: number): string => referenceOf(number.toString(16).padStart(64, '0'))

function addTo(
  grids: readonly TronGridServer[],
  number: number,
  height: number,
  transfer: GridTransfer,
): string {
  for (const grid of grids) grid.add(number, height, [transfer])
  return idOf(number)
}

function mine(blocks: number): void {
  for (const grid of world.grids) grid.head += blocks
}

/** The lists name the newest transaction first. */
function linesBecomeInAnyOrder(lines: string[]): Promise<void> {
  return eventually(() => expect(world.book.lines().sort()).toEqual(lines))
}

/** Resolves after the provider has begun and ended two whole rounds. */
async function roundPasses(): Promise<void> {
  const rounds = (): number => world.grid.paths().filter((path) => path === '/wallet/getnowblock').length
  const before = rounds()
  await eventually(() => expect(rounds()).toBeGreaterThan(before + 2))
}

test('a payment counts only when its block is one that no reorganisation can replace', async () => {
  world.grid.solidDepth = 19
  await world.start()
  const reference = addTo(world.grids, 1, 1000, usdt(PRICE))
  mine(18)
  await world.linesBecome([`${reference} 5000000 seen`])
  await roundPasses()
  // It has the three confirmations of the settings, and six times as many.
  expect(world.book.lines()).toEqual([`${reference} 5000000 seen`])
  mine(1)
  await world.linesBecome([`${reference} 5000000 final`])
  expect(world.book.status(order)).toBe('confirmed')
})

test('a payment that a reorganisation deeper than the confirmations removes was never counted', async () => {
  world.grid.solidDepth = 19
  await world.start()
  const reference = addTo(world.grids, 1, 1000, usdt(PRICE))
  mine(15)
  await world.linesBecome([`${reference} 5000000 seen`])
  await roundPasses()
  world.grid.transactions.pop()
  mine(4)
  await world.linesBecome([`${reference} 5000000 gone`])
  expect(world.book.status(order)).toBe('pending')
  expect(world.book.payment(reference)).toMatchObject({ outcome: null, lost: null })
})

test('a payment is not final while only one of two endpoints has it in a block that cannot be replaced', async () => {
  const other = world.addGrid()
  other.solidDepth = 19
  await world.again()
  await world.start()
  const reference = addTo(world.grids, 1, 990, usdt(PRICE))
  await world.linesBecome([`${reference} 5000000 seen`])
  await roundPasses()
  expect(world.book.lines()).toEqual([`${reference} 5000000 seen`])
  mine(9)
  await world.linesBecome([`${reference} 5000000 final`])
})

test('a token that takes a fee and reports the gross amount leaves the order short until the rest is paid', async () => {
  await world.start()
  const reference = addTo(world.grids, 1, 998, withFee(PRICE))
  await world.linesBecome([`${reference} 5000000 seen`])
  await roundPasses()
  // An endpoint may be behind, so for a minute it waits.
  expect(world.book.lines()).toEqual([`${reference} 5000000 seen`])
  mine(20)
  await world.linesBecome([`${reference} 4950000 final`])
  expect(world.book.status(order)).toBe('pending')
  expect(world.log.events).toEqual([['warn', 'payment_less_received']])
  expect(world.log.fields).toEqual([{ reason: reference, amount: '4950000' }])
  const rest = addTo(world.grids, 2, 1018, usdt(FEE))
  await world.linesBecome([`${reference} 4950000 final`, `${rest} 50000 final`])
  expect(world.book.status(order)).toBe('confirmed')
})

test('several payments in a token with a fee count together for what arrived, also after a restart', async () => {
  addTo(world.grids, 1, 997, withFee(2_000_000n))
  const later = addTo(world.grids, 2, 998, withFee(2_000_000n))
  await world.start()
  // The first is covered by what both brought; what is missing is taken from the later one.
  await linesBecomeInAnyOrder([`${idOf(1)} 2000000 final`, `${later} 2000000 seen`])
  await roundPasses()
  await world.again()
  await world.start()
  await roundPasses()
  mine(20)
  await linesBecomeInAnyOrder([`${idOf(1)} 2000000 final`, `${later} 1960000 final`])
  const third = addTo(world.grids, 3, 1018, withFee(1_000_000n))
  await eventually(() => expect(world.book.payment(third)?.state).toBe('seen'))
  await roundPasses()
  mine(20)
  await eventually(() =>
    expect(world.book.payment(third)).toMatchObject({ state: 'final', amount: '990000' }),
  )
  expect(world.book.status(order)).toBe('pending')
})

test('an event without money counts for nothing', async () => {
  await world.start()
  const reference = addTo(world.grids, 1, 998, { ...usdt(PRICE), fee: PRICE })
  await world.linesBecome([`${reference} 5000000 seen`])
  await roundPasses()
  mine(20)
  await world.linesBecome([`${reference} 5000000 gone`])
  expect(world.book.status(order)).toBe('pending')
})

test('a node that is behind with its balance only lets a payment wait', async () => {
  let isBehind = true
  world.grid.instead = ({ path }) =>
    isBehind && path === '/walletsolidity/triggerconstantcontract'
      ? Response.json({ constant_result: ['0'.repeat(64)] })
      : undefined
  const reference = addTo(world.grids, 1, 998, usdt(PRICE))
  await world.start()
  await world.linesBecome([`${reference} 5000000 seen`])
  mine(19)
  await roundPasses()
  expect(world.book.lines()).toEqual([`${reference} 5000000 seen`])
  isBehind = false
  await world.linesBecome([`${reference} 5000000 final`])
  expect(world.log.events).toEqual([])
})

test('less is believed only when it has not changed for a minute', async () => {
  await world.start()
  const reference = addTo(world.grids, 1, 998, withFee(PRICE))
  await world.linesBecome([`${reference} 5000000 seen`])
  await roundPasses()
  mine(19)
  const dust = addTo(world.grids, 2, 1017, usdt(1n))
  await eventually(() => expect(world.book.payment(dust)?.state).toBe('seen'))
  await roundPasses()
  mine(19)
  await roundPasses()
  expect(world.book.payment(reference)?.state).toBe('seen')
  mine(1)
  await eventually(() =>
    expect(world.book.payment(reference)).toMatchObject({ state: 'final', amount: '4950001' }),
  )
  expect(world.book.payment(dust)?.state).toBe('gone')
})

test('blocks that pass while a balance is read are no part of that minute', async () => {
  let isFirst = true
  world.grid.instead = ({ path }) => {
    if (!isFirst || path !== '/walletsolidity/triggerconstantcontract') return undefined
    isFirst = false
    mine(19)
    return undefined
  }
  const reference = addTo(world.grids, 1, 998, withFee(PRICE))
  await world.start()
  await world.linesBecome([`${reference} 5000000 seen`])
  await roundPasses()
  mine(1)
  await roundPasses()
  expect(world.book.lines()).toEqual([`${reference} 5000000 seen`])
  mine(19)
  await world.linesBecome([`${reference} 4950000 final`])
})

test('endpoints that report a transaction differently are a trouble until they agree', async () => {
  world.addGrid()
  await world.again()
  await world.start()
  addTo([world.grid], 1, 998, usdt(PRICE))
  await eventually(() => expect(world.provider.trouble()).toBe('disagree'))
  world.grid.transactions.pop()
  mine(2)
  await eventually(() => expect(world.provider.trouble()).toBeUndefined())
})

test('money that was collected before it was found counts', async () => {
  const reference = addTo(world.grids, 1, 990, usdt(PRICE))
  addTo(world.grids, 2, 995, { ...usdt(PRICE, 'fc'), from: FIRST.hex })
  await world.start()
  await world.linesBecome([`${reference} 5000000 final`])
  expect(world.book.status(order)).toBe('confirmed')
  expect(world.log.events).toEqual([])
})

test('a payment waits while the endpoints disagree on what arrived, and they are named', async () => {
  const other = world.addGrid()
  await world.again()
  await world.start()
  world.grid.add(1, 998, [usdt(PRICE)])
  other.add(1, 998, [withFee(PRICE)])
  await world.linesBecome([`${idOf(1)} 5000000 seen`])
  await roundPasses()
  mine(20)
  await eventually(() => expect(world.provider.trouble()).toBe('disagree'))
  expect(world.book.lines()).toEqual([`${idOf(1)} 5000000 seen`])
  const url = world.grids.map(({ http }) => new URL(http.url).host).join(' ')
  expect(world.log.fields).toEqual([
    { url, reason: expect.stringContaining(`what ${FIRST.address} received`) },
  ])
  other.transactions.pop()
  other.add(1, 998, [usdt(PRICE)])
  await world.linesBecome([`${idOf(1)} 5000000 final`])
  await eventually(() => expect(world.provider.trouble()).toBeUndefined())
})

test('an endpoint without a balance lets the payment wait, and is a trouble until it answers', async () => {
  world.grid.instead = ({ path }) =>
    path === '/walletsolidity/triggerconstantcontract' ? new Response(null, { status: 500 }) : undefined
  await world.start()
  const reference = addTo(world.grids, 1, 998, usdt(PRICE))
  await eventually(() => expect(world.provider.trouble()).toBe('few'))
  expect(world.book.lines()).not.toContain(`${reference} 5000000 final`)
  world.grid.instead = () => undefined
  await world.linesBecome([`${reference} 5000000 final`])
  await eventually(() => expect(world.provider.trouble()).toBeUndefined())
})
