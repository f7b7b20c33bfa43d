// A chain, a token, and shops on a new store, for test files that use a real chain.
import { afterAll, afterEach, beforeAll, beforeEach } from 'bun:test'
import { type Endpoint, startChain, startEndpoint, type TestChain, type TestToken } from './chain.ts'
import { type ChainShop, type EvmSettings, openChainShop } from './chain-shop.ts'
import { engines, type TestStore } from './engines.ts'

/** What one test file has. */
export interface ChainWorld {
  readonly chain: TestChain
  /** A token with six decimals. */
  readonly token: TestToken
  /** A new, empty store for each test. */
  readonly store: TestStore
  /** Everything that is stopped after the test. */
  readonly opened: { stop(): Promise<void> }[]
  /** Opens an endpoint in front of a chain, by default this world's chain. */
  openEndpoint(target?: TestChain): Promise<Endpoint>
  /** Opens a shop without starting it. It uses the chain directly unless `EVM_RPC_URLS` is set. */
  openShop(settings?: EvmSettings): Promise<ChainShop>
  /** Opens a shop and starts it. */
  openStartedShop(settings?: EvmSettings): Promise<ChainShop>
}

/** Starts a chain for the tests of a file. */
export function useChain(): ChainWorld {
  const [sqlite] = engines
  let chain: TestChain | undefined
  let token: TestToken | undefined
  let store: TestStore | undefined
  const opened: { stop(): Promise<void> }[] = []
  const started = <T>(part: T | undefined): T => {
    if (!part) throw new Error('the world of these tests has not started yet')
    return part
  }
  beforeAll(async () => {
    chain = await startChain()
    token = await chain.deployToken(6)
  })
  afterAll(() => chain?.stop())
  beforeEach(async () => {
    store = await started(sqlite).open()
  })
  afterEach(async () => {
    for (const one of opened.splice(0).reverse()) await one.stop()
    await store?.remove()
  })
  const world: ChainWorld = {
    get chain() {
      return started(chain)
    },
    get token() {
      return started(token)
    },
    get store() {
      return started(store)
    },
    opened,
    openEndpoint: async (target = started(chain)) => {
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
