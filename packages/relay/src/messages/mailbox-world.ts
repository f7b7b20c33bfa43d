// What the mailbox's tests are made of: people, a clock of their own, and a count of what is really there.
import { AliasId, type ClientFrameOf, type ClientFrameType, check, decodeClientFrame } from '@sotto/protocol'
import { addAccount, findAccountByAlias } from '../accounts/accounts.ts'
import type { Clock } from '../operations/clock.ts'
import { systemRandom } from '../operations/random.ts'
import type { AccountId, Storage } from '../storage/storage.ts'

/** Somebody with an account. */
export interface Person {
  readonly id: AccountId
  readonly alias: AliasId
}

/** A clock that moves when it is told to. `advance` is time passing; `jump` is somebody setting the clock. */
export function clockAt(now: number): Clock & { advance(ms: number): void; jump(ms: number): void } {
  let monotonic = 0
  let wall = now
  return {
    now: () => wall,
    monotonic: () => monotonic,
    advance: (ms) => {
      wall += ms
      monotonic += ms
    },
    jump: (ms) => {
      wall += ms
    },
  }
}

/** Three people with accounts. */
export async function people(storage: Storage, clock: Clock): Promise<[Person, Person, Person]> {
  const add = (): Promise<Person> =>
    storage.transaction(async (sql) => {
      const keys = { ed25519PublicKey: crypto.randomUUID(), x25519PublicKey: crypto.randomUUID() }
      const added = await addAccount(sql, { ...keys, nickname: 'n' }, { clock, randomBytes: systemRandom })
      const alias = check(AliasId, added?.alias_id)
      const account = await findAccountByAlias(sql, alias)
      if (!account) throw new Error('no account was added')
      return { id: account.id, alias }
    })
  return [await add(), await add(), await add()]
}

/** A frame as the gateway would hand it over. */
export function frameOf<T extends ClientFrameType>(fields: object, type: T): ClientFrameOf<T> {
  const { frame, fault } = decodeClientFrame(JSON.stringify(fields))
  if (frame?.type !== type) throw new Error(`not a ${type}: ${JSON.stringify(fault)}`)
  return frame as ClientFrameOf<T>
}

/** Lanes and mailboxes whose counts differ from the rows they count: always none. */
export async function countsOf(storage: Storage): Promise<object[]> {
  const lanes = await storage.sql`
    SELECT conversation_id, recipient_id, pending_count, pending_bytes FROM lanes
    WHERE pending_count <> (SELECT COUNT(*) FROM messages WHERE kind = 0
        AND messages.conversation_id = lanes.conversation_id AND messages.recipient_id = lanes.recipient_id)
      OR pending_bytes <> (SELECT COALESCE(SUM(octet_length(payload)), 0) FROM messages WHERE kind = 0
        AND messages.conversation_id = lanes.conversation_id AND messages.recipient_id = lanes.recipient_id)`
  const mailboxes = await storage.sql`
    SELECT account_id, pending_count, pending_bytes FROM mailboxes
    WHERE pending_count <> (SELECT COUNT(*) FROM messages WHERE kind = 0 AND messages.recipient_id = mailboxes.account_id)
      OR pending_bytes <> (SELECT COALESCE(SUM(octet_length(payload)), 0) FROM messages WHERE kind = 0
        AND messages.recipient_id = mailboxes.account_id)`
  return [...lanes, ...mailboxes]
}
