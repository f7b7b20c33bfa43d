// Who takes part in a simulation: accounts that are all friends of each other, prepared once for all runs of
// a process, with the relay's own SQL.
import { type AccountUuid, AliasId, type ConversationId, check } from '@sotto/protocol'
import { addAccount, findAccountByAlias } from '../../packages/relay/src/accounts/accounts.ts'
import { type LiveKeys, openRelayKeys } from '../../packages/relay/src/accounts/relay-keys.ts'
import { openConversation } from '../../packages/relay/src/messages/messages.ts'
import { randomUuid } from '../../packages/relay/src/operations/random.ts'
import type { AccountId, Storage } from '../../packages/relay/src/storage/storage.ts'
import { Random } from '../faults/random.ts'
import { SimulatedDatabase } from './store.ts'

/** When every simulation begins, by the wall clock. */
export const BEGINS_AT = 1_700_000_000_000
export const MOST_PEOPLE = 4

/** An account. */
export interface Person {
  readonly account: AccountId
  readonly uuid: AccountUuid
  readonly alias: AliasId
}

/** What all runs begin with. */
export interface Stage {
  readonly database: SimulatedDatabase
  readonly people: readonly Person[]
  readonly tokenKeys: LiveKeys
  /** The conversation of two people, by their numbers. */
  conversationOf(a: number, b: number): ConversationId
}

export async function setStage(): Promise<Stage> {
  const database = new SimulatedDatabase()
  const random = new Random(1)
  const randomBytes = (length: number): Uint8Array => Uint8Array.from({ length }, () => random.whole(0, 255))
  const clock = { now: () => BEGINS_AT, monotonic: () => 0 }
  const people: Person[] = []
  const conversations = new Map<string, ConversationId>()
  let keys: LiveKeys['current'] | undefined
  const fill = async (storage: Storage): Promise<void> => {
    keys = await openRelayKeys(storage, 'token', { clock, randomBytes })
    for (let i = 0; i < MOST_PEOPLE; i++) {
      const added = { nickname: 'n', ed25519PublicKey: `e${i}`, x25519PublicKey: `x${i}` }
      const person = await storage.transaction(async (sql) => {
        const names = await addAccount(sql, added, { clock, randomBytes })
        return await findAccountByAlias(sql, check(AliasId, names?.alias_id))
      })
      if (!person) throw new Error('no account was added')
      people.push({ account: person.id, uuid: person.uuid, alias: person.alias_id })
    }
    for (const [a, one] of people.entries())
      for (const [b, other] of people.slice(0, a).entries()) {
        const id = randomUuid(randomBytes)
        const conv = await storage.transaction((sql) => openConversation(sql, one.account, other.account, id))
        conversations.set(`${b} ${a}`, conv)
      }
  }
  await database.prepare(fill)
  if (!keys) throw new Error('no keys')
  return {
    database,
    people,
    tokenKeys: { current: keys },
    conversationOf: (a, b) => {
      const conv = conversations.get(`${Math.min(a, b)} ${Math.max(a, b)}`)
      if (!conv) throw new Error('no such conversation')
      return conv
    },
  }
}
