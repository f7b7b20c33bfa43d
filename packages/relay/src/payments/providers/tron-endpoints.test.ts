// Several TronGrid endpoints: none is believed alone. Local HTTP servers simulate the documented API.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { failureOf } from '../../../../protocol/test/failure-of.ts'
import { eventually } from '../../../test/payment-watch.ts'
import type { TronGridServer } from '../../../test/tron-grid-server.ts'
import {
  FAR_BLOCK,
  FIRST,
  openTronWorld,
  referenceOf,
  type TronWorld,
  USDC,
  USDT,
  usdt,
} from '../../../test/tron-world.ts'

describe('with several endpoints', () => {
  let world: TronWorld
  let grid: TronGridServer
  beforeEach(async () => {
    world = await openTronWorld()
    grid = world.grid
    await world.addOrder()
  })
  afterEach(() => world.close())

  /** Starts the provider with further endpoints. */
  async function startWith(others: number): Promise<TronGridServer[]> {
    for (let n = 0; n < others; n++) world.addGrid()
    await world.again()
    await world.start()
    return world.grids
  }
  const endpointsOf = (grids: readonly TronGridServer[]): string =>
    grids.map(({ http }) => new URL(http.url).host).join(' ')
  const addTo = (grids: readonly TronGridServer[], number = 1, amount = 5_000_000n): string => {
    for (const each of grids) each.add(number, 990, [usdt(amount)])
    return referenceOf(number.toString(16).padStart(64, '0'))
  }

  test('a payment that only one of two reports is seen, and does not count until the other agrees', async () => {
    const grids = await startWith(1)
    const reference = addTo([grid])
    await world.linesBecome([`${reference} 5000000 seen`])
    await eventually(() =>
      expect(world.log.fields.filter(({ url }) => url === endpointsOf(grids))).toEqual([
        { url: endpointsOf(grids), reason: expect.stringContaining('it does not count until they agree') },
      ]),
    )
    expect(world.book.lines()).toEqual([`${reference} 5000000 seen`])
    addTo(grids.slice(1))
    await world.linesBecome([`${reference} 5000000 final`])
  })

  test('a payment that one of three invents does not count and goes', async () => {
    const grids = await startWith(2)
    const invented = addTo(grids.slice(2))
    const reference = addTo(grids, 2, 4n)
    await world.linesBecome([`${reference} 4 final`])
    expect(world.book.payment(invented)).toBeUndefined()
  })

  test('a payment that one of three hides counts', async () => {
    const grids = await startWith(2)
    const reference = addTo(grids.slice(0, 2))
    await world.linesBecome([`${reference} 5000000 final`])
  })

  test('a payment whose transaction one endpoint calls too large counts when the others agree on it', async () => {
    const reference = addTo([grid, world.addGrid(), world.addGrid()])
    grid.instead = ({ path }) =>
      path.includes('gettransactioninfo') ? new Response('x'.repeat(4_194_305)) : undefined
    await startWith(0)
    await world.linesBecome([`${reference} 5000000 final`])
  })

  test('payments are known only up to a block that enough endpoints have, and a head that is too high is reported', async () => {
    grid.head = FAR_BLOCK
    const [, other = grid] = await startWith(1)
    await eventually(() => expect(world.provider.seenUntil()).toBe(grid.timeOf(1000) - 30_000))
    expect(world.log.fields).toContainEqual({
      url: new URL(grid.http.url).host,
      reason: `its newest block is ${FAR_BLOCK}, where others have 1000`,
    })
    other.head = 1100
    await eventually(() => expect(world.provider.seenUntil()).toBe(grid.timeOf(1100) - 30_000))
  })

  test('if too few endpoints answer, no payment counts and nothing is known further', async () => {
    const [, other = grid] = await startWith(1)
    await eventually(() => expect(world.provider.seenUntil()).toBe(grid.timeOf(1000) - 30_000))
    other.instead = () => new Response(null, { status: 500 })
    const reference = addTo([grid, other])
    for (const each of [grid, other]) each.head = 2000
    await eventually(() => expect(world.log.events).toContainEqual(['warn', 'payments_unreachable']))
    expect(world.provider.seenUntil()).toBe(grid.timeOf(1000) - 30_000)
    expect(world.book.payment(reference)?.state).not.toBe('final')
    other.instead = () => undefined
    await world.linesBecome([`${reference} 5000000 final`])
    expect(world.log.events).toContainEqual(['info', 'payments_endpoint_back'])
  })

  test('what an address holds, and what has left it, is what enough endpoints agree on', async () => {
    const grids = await startWith(1)
    addTo(grids)
    for (const each of grids) each.add(2, 995, [{ ...usdt(2n, USDC.hex), from: FIRST.hex }])
    const asset = `tron:mainnet/${USDT.address}`
    expect(await world.provider.holdings([FIRST.address])).toEqual({
      ...{ height: undefined, holdings: [{ payTo: FIRST.address, asset, balance: 4_999_998n }] },
    })
    expect(await world.provider.movedOut({ payTo: FIRST.address })).toBe(2n)
    grid.add(3, 996, [usdt(7n)])
    expect(await failureOf(world.provider.holdings([FIRST.address]))).toMatchObject({
      code: 'PAYMENTS_UNAVAILABLE',
    })
  })

  test('an endpoint that names another sender contradicts the others', async () => {
    const [, other = grid] = await startWith(1)
    addTo([grid, other])
    grid.add(2, 995, [{ ...usdt(2n), from: FIRST.hex }])
    other.add(2, 995, [{ ...usdt(2n), from: USDC.hex }])
    expect(await failureOf(world.provider.movedOut({ payTo: FIRST.address }))).toMatchObject({
      code: 'PAYMENTS_UNAVAILABLE',
    })
  })

  test('an endpoint of another chain is not believed, also if it changes during a round', async () => {
    const [, other = grid] = await startWith(1)
    await eventually(() => expect(world.provider.seenUntil()).toBe(grid.timeOf(1000) - 30_000))
    // The other endpoint is on the right chain at the beginning of each round, and not at its end.
    let rounds = 0
    let isWrong = false
    other.instead = ({ path }) => {
      if (path === '/wallet/getblockbynum') {
        other.chainId = isWrong ? 1 : 728_126_428
        isWrong = false
      }
      if (!path.startsWith('/v1/')) return undefined
      rounds += 1
      isWrong = true
      return undefined
    }
    const reference = addTo([grid, other])
    for (const each of [grid, other]) each.head = 2000
    await eventually(() => expect(rounds).toBeGreaterThan(3))
    expect(world.book.payments()).toEqual([])
    expect(world.provider.seenUntil()).toBe(grid.timeOf(1000) - 30_000)
    other.instead = () => undefined
    other.chainId = 728_126_428
    await world.linesBecome([`${reference} 5000000 final`])
  })
})
