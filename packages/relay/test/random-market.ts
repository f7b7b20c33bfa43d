// What a random schedule of a shop begins with: people, channels for sale, and payments on the model chain.
import { AliasId, type ChannelId, check, type Limits, ProtocolError } from '@sotto/protocol'
import { addAccount, findAccountByAlias } from '../src/accounts/accounts.ts'
import { createChannel, setSalePrice } from '../src/channels/catalog.ts'
import type { Clock } from '../src/operations/clock.ts'
import type { RandomBytes } from '../src/operations/random.ts'
import type { PaymentProvider } from '../src/payments/provider.ts'
import type { ChainReader } from '../src/payments/providers/evm-chain-reader.ts'
import type { AccountId, Sql, Storage } from '../src/storage/storage.ts'
import { UNIT } from './shop-books.ts'

const BUYERS = 3
const CHANNELS = 2
/** What the channels cost at first. */
export const CHANNEL_PRICE = 20

interface MarketParts {
  readonly clock: Clock
  readonly randomBytes: RandomBytes
  readonly limits: Limits
}

/** Adds a seller with channels for sale, and buyers. */
export async function openMarket(storage: Storage, parts: MarketParts) {
  return await storage.transaction(async (sql) => {
    const seller = await addPerson(sql, parts)
    const buyers: AccountId[] = []
    const channels: ChannelId[] = []
    while (buyers.length < BUYERS) buyers.push(await addPerson(sql, parts))
    while (channels.length < CHANNELS) {
      const details = { name: 'Cats', description: '', isPublic: true }
      const id = await createChannel(sql, seller, details, parts)
      await setSalePrice(sql, { id, caller: seller }, CHANNEL_PRICE)
      channels.push(id)
    }
    return { seller, buyers, channels }
  })
}

async function addPerson(sql: Sql, parts: MarketParts): Promise<AccountId> {
  const keys = { ed25519PublicKey: crypto.randomUUID(), x25519PublicKey: crypto.randomUUID() }
  const added = await addAccount(sql, { ...keys, nickname: 'n' }, parts)
  const account = await findAccountByAlias(sql, check(AliasId, added?.alias_id))
  if (!account) throw new Error('no account was added')
  return account.id
}

/** Payments in a token of the model chain, as far as it was read. */
export function modelPayments(asset: string, reader: () => ChainReader): PaymentProvider {
  return {
    name: 'evm',
    methods: [{ asset, symbol: 'USDT', decimals: 6, network: 'Model' }],
    isAvailable: () => true,
    open: async ({ depositIndex, price }) => {
      if (!reader().position) throw new ProtocolError('PAYMENTS_UNAVAILABLE')
      const payTo = `0x${(depositIndex + 0x1000).toString(16).padStart(40, '0')}`
      return { payTo, asset, amount: BigInt(price) * UNIT }
    },
    start: async () => undefined,
    stop: async () => undefined,
    seenUntil: () => reader().seenUntil,
  }
}
