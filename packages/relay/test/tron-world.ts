// What the tests of TRC-20 payments share: a local HTTP server that simulates the documented TronGrid API,
// and a provider that reads it. There is no TRON node to test with.
import { expect } from 'bun:test'
import { HDKey } from '@scure/bip32'
import { systemClock } from '../src/operations/clock.ts'
import type { paymentSettings } from '../src/payments/payment-settings.ts'
import { TronPayments } from '../src/payments/providers/tron.ts'
import { tronConfigOf } from '../src/payments/providers/tron-config.ts'
import { anOrderId, openLedgerWorld } from './ledger-world.ts'
import { eventually, recordingLog } from './payment-watch.ts'
import { TronGridServer } from './tron-grid-server.ts'

// The seed of the well-known BIP-39 mnemonic: eleven times `abandon`, then `about`.
const SEED =
  '5eb00bbddcf069084889a8ab9155568165f5c453ccb85e70811aaed6f6da5fc19a5ac40b389cd370d086206dec8aa6c43daea6690f20ad3d8d48b2d2ce9e38e4'
/** The wallet's account. */
export const ACCOUNT = HDKey.fromMasterSeed(Buffer.from(SEED, 'hex')).derive("m/44'/195'/0'")
/** The first deposit address, with its 20 bytes. */
export const FIRST = {
  address: 'TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH',
  hex: 'c8599111f29c1e1e061265b4af93ea1f274ad78a',
}
/** The token to pay in. */
export const USDT = {
  address: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
  hex: 'a614f803b6fd780986a42c78ec9c7f77e6ded13c',
}
/** Another token. */
export const USDC = {
  address: 'TEkxiTehnzSmSe2XqrBj4w32RUN966rdz8',
  hex: '3487b63d30b5b2c87fb7ffa8bcfade38eaac1abe',
}
/** A block far in the future, after the end of every order. */
export const FAR_BLOCK = 1_000_000_000

/** A setting of payments. */
export type Name = keyof typeof paymentSettings
/** The provider's configuration, with these settings changed. */
export const read = (changed: Partial<Record<Name, string>>) => {
  const good: Partial<Record<Name, string>> = {
    TRON_API_URL: 'https://api.trongrid.io',
    TRON_TOKEN: USDT.address,
    TRON_XPUB: ACCOUNT.publicExtendedKey,
    TRON_CONFIRMATIONS: '3',
    TRON_CHAIN_ID: '728126428',
  }
  return tronConfigOf((name) => ({ ...good, ...changed })[name] ?? '')
}
/** An order that no ledger knows. */
export const order = { orderId: anOrderId(1), depositIndex: 0, price: 5, expiresAt: 0, title: 'the id ada' }

/** A ledger, endpoints, and a provider that was not started yet. */
export type TronWorld = Awaited<ReturnType<typeof openTronWorld>>

/** Opens a ledger with the provider on one endpoint. */
export async function openTronWorld() {
  const book = await openLedgerWorld()
  const log = recordingLog()
  const grids = [makeGrid()]
  const [grid] = grids
  if (!grid) throw new Error('there is no endpoint')
  const makeProvider = (): TronPayments => {
    const pace = { betweenMs: 1, backOffMs: 20, roundMs: 10, watchedMs: 50 }
    const endpoints = { apiUrls: grids.map(({ http }) => http.url), agree: Math.min(2, grids.length) }
    const config = { ...read({}), ...endpoints, apiKey: 'the-key' }
    return new TronPayments(config, { clock: systemClock, log: log.log, pace })
  }
  const world = {
    ...{ book, log, grid, grids },
    provider: makeProvider(),
    /** Replaces the provider, as a restarted relay does. Two or more endpoints must agree. */
    again: async (): Promise<void> => {
      await world.provider.stop()
      world.provider = makeProvider()
    },
    /** Adds an endpoint that the next provider also asks. */
    addGrid: (): TronGridServer => {
      const added = makeGrid()
      grids.push(added)
      return added
    },
    start: (): Promise<void> => world.provider.start(book.ledger),
    /** Places an order. The first one gets the first address. */
    addOrder: (price = 5) => book.place(world.provider, price),
    linesBecome: (lines: string[]): Promise<void> => eventually(() => expect(book.lines()).toEqual(lines)),
    close: async (): Promise<void> => {
      await world.provider.stop()
      await book.close()
      for (const each of grids) each[Symbol.dispose]()
    },
  }
  return world
}

/** A transfer of the token to pay in. */
export function usdt(amount: bigint, to = FIRST.hex) {
  return { token: USDT.hex, to, amount }
}

/** The reference of a payment: the transfer's place in its transaction. */
export function referenceOf(id: string, index = 0): string {
  return `tron:mainnet/${id}/${index}`
}

function makeGrid(): TronGridServer {
  return new TronGridServer(new Map([FIRST, USDT, USDC].map(({ address, hex }) => [address, hex])))
}
