// A chain, a token and shops on a store of their own, for each file of tests that is paid on a real chain.
import { afterAll, afterEach, beforeAll, beforeEach } from 'bun:test'
import { type Endpoint, startChain, startEndpoint, type TestChain, type TestToken } from './chain.ts'
import { type ChainShop, type EvmSettings, openChainShop } from './chain-shop.ts'
import { engines, type TestStore } from './engines.ts'

/** What one file of tests has. */
export interface ChainWorld {
  readonly chain: TestChain
  /** Six decimals. */
  readonly token: TestToken
  /** Empty for each test. */
  readonly store: TestStore
  /** Whatever has to be stopped with the test. */
  readonly opened: { stop(): Promise<void> }[]
  /** An endpoint in front of a chain, this one unless told. */
  openEndpoint(target?: TestChain): Promise<Endpoint>
  /** A shop that is not started yet; it asks the chain itself unless `EVM_RPC_URLS` says otherwise. */
  openShop(settings?: EvmSettings): Promise<ChainShop>
  /** One that is. */
  openStartedShop(settings?: EvmSettings): Promise<ChainShop>
}

/** Has a chain for the tests of a file. */
export function useChain(): ChainWorld {
  const [sqlite] = engines
  let chain: TestChain | undefined
  let token: TestToken | undefined
  let store: TestStore | undefined
  const opened: { stop(): Promise<void> }[] = []
  const there = <T>(part: T | undefined): T => {
    if (!part) throw new Error('the world of these tests is not there yet')
    return part
  }
  beforeAll(async () => {
    chain = await startChain()
    token = await chain.deployToken(6)
  })
  afterAll(() => chain?.stop())
  beforeEach(async () => {
    store = await there(sqlite).open()
  })
  afterEach(async () => {
    for (const one of opened.splice(0).reverse()) await one.stop()
    await store?.remove()
  })
  const world: ChainWorld = {
    get chain() {
      return there(chain)
    },
    get token() {
      return there(token)
    },
    get store() {
      return there(store)
    },
    opened,
    openEndpoint: async (target = there(chain)) => {
      const endpoint = await startEndpoint(target.url)
      opened.push(endpoint)
      return endpoint
    },
    openShop: async (settings = {}) => {
      const usual = { EVM_RPC_URLS: world.chain.url, EVM_TOKEN: world.token.address }
      const shop = await openChainShop(world.store.storage, { ...usual, ...settings })
      opened.push({ stop: () => shop.stop() })
      return shop
    },
    openStartedShop: async (settings) => {
      const shop = await world.openShop(settings)
      await shop.open()
      return shop
    },
  }
  return world
}
