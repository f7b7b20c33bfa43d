// What the mailbox tests share: accounts, a clock that tests move, and a check of the stored counts.
import {
  AliasId,
  type ClientFrameOf,
  type ClientFrameType,
  check,
  decodeClientFrame,
  defaultLimits,
  type Limits,
  type RelayFrame,
} from '@sotto/protocol'
import { addAccount, findAccountByAlias } from '../src/accounts/accounts.ts'
import type { Bus, Ring } from '../src/cluster/bus.ts'
import { createInProcessBus } from '../src/cluster/in-process-bus.ts'
import { ReplacedError } from '../src/gateway/epochs.ts'
import type { Operation } from '../src/messages/batch.ts'
import { GroupCommit } from '../src/messages/group-commit.ts'
import { MailboxReader } from '../src/messages/mailbox-reader.ts'
import { createBatchStore, openConversation } from '../src/messages/messages.ts'
import { SentIdCounts } from '../src/messages/sent-id-counts.ts'
import type { Clock } from '../src/operations/clock.ts'
import { createLog, type Log } from '../src/operations/log.ts'
import { systemRandom } from '../src/operations/random.ts'
import { RelayMetrics } from '../src/operations/relay-metrics.ts'
import type { AccountId, Storage } from '../src/storage/storage.ts'
import { ampleSpace } from './ample-space.ts'
import type { engines, TestStore } from './engines.ts'

/** An account. */
export interface Person {
  readonly id: AccountId
  readonly alias: AliasId
}

/** A clock that only tests move. `advance` lets time pass; `jump` changes the wall clock only. */
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

/** Adds three accounts. */
async function people(storage: Storage, clock: Clock): Promise<[Person, Person, Person]> {
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

/** A frame as the gateway delivers it. */
function frameOf<T extends ClientFrameType>(fields: object, type: T): ClientFrameOf<T> {
  const { frame, fault } = decodeClientFrame(JSON.stringify(fields))
  if (frame?.type !== type) throw new Error(`not a ${type}: ${JSON.stringify(fault)}`)
  return frame as ClientFrameOf<T>
}

/** Lanes and mailboxes whose counts differ from the rows they count. There must be none. */
export async function countsOf(storage: Storage): Promise<object[]> {
  const lanes = await storage.sql`
    SELECT conversation_id, recipient_id, pending_count, pending_bytes, retraction_count FROM lanes
    WHERE retraction_count <> (SELECT COUNT(*) FROM messages WHERE kind = 1
        AND messages.conversation_id = lanes.conversation_id AND messages.recipient_id = lanes.recipient_id)
      OR pending_count <> (SELECT COUNT(*) FROM messages WHERE kind = 0
        AND messages.conversation_id = lanes.conversation_id AND messages.recipient_id = lanes.recipient_id)
      OR pending_bytes <> (SELECT COALESCE(SUM(octet_length(payload)), 0) FROM messages WHERE kind = 0
        AND messages.conversation_id = lanes.conversation_id AND messages.recipient_id = lanes.recipient_id)`
  const mailboxes = await storage.sql`
    SELECT account_id, pending_count, pending_bytes, retraction_count FROM mailboxes
    WHERE retraction_count <> (SELECT COUNT(*) FROM messages WHERE kind = 1
        AND messages.recipient_id = mailboxes.account_id)
      OR pending_count <> (SELECT COUNT(*) FROM messages WHERE kind = 0 AND messages.recipient_id = mailboxes.account_id)
      OR pending_bytes <> (SELECT COALESCE(SUM(octet_length(payload)), 0) FROM messages WHERE kind = 0
        AND messages.recipient_id = mailboxes.account_id)`
  return [...lanes, ...mailboxes]
}

/**
 * A store with two friends and a stranger, the operations for their frames, and the rings (notifications on
 * the bus) for them.
 */
export interface MailboxWorld {
  readonly store: TestStore
  readonly clock: ReturnType<typeof clockAt>
  readonly log: Log
  readonly limits: Limits
  readonly alice: Person
  readonly bob: Person
  readonly carol: Person
  /** The conversation of Alice and Bob. */
  readonly conv: string
  readonly bus: Bus
  readonly rings: readonly { account: AccountId; ring: Ring }[]
  readonly commits: GroupCommit
  readonly reader: MailboxReader
  /** The commits of another node, on the same store opened once more. */
  commitsOn(storage: Storage): GroupCommit
  /** Runs an operation. @throws the error it is refused with */
  run(operation: Operation): Promise<readonly RelayFrame[]>
  /** The code an operation is refused with, or `accepted`. */
  refusal(operation: Operation): Promise<string>
  send(from: Person, to: Person, id: string, payload?: string, convId?: string, after?: string): Operation
  retract(from: Person, to: Person, id: string): Operation
  /** A handshake out of an epoch if it has a group info, else a message in that epoch. */
  sendInEpoch(from: Person, to: Person, id: string, epoch: number, groupInfo?: string): Operation
  /** By a client that reads `crypto_v` 3 unless `by` says otherwise. */
  receipt(
    reading: Person,
    to: Person,
    type: 'delivered' | 'read',
    seq: number,
    by?: 'older client',
  ): Operation
  waitingFor(person: Person): Promise<Record<string, unknown>[]>
}

/** Opens a world whose mailboxes hold at most twenty messages and 4,000 bytes, and ten retractions. */
export async function openMailboxWorld(
  engine: (typeof engines)[number],
  overrides: Partial<Limits> = {},
): Promise<MailboxWorld> {
  const store = await engine.open()
  const clock = clockAt(1_700_000_000_000)
  const limits = {
    ...defaultLimits(),
    mailboxMessages: 20,
    mailboxBytes: 4000,
    mailboxRetractions: 10,
    ...overrides,
  }
  const [alice, bob, carol] = await people(store.storage, clock)
  const conv = await store.storage.transaction((sql) =>
    openConversation(sql, alice.id, bob.id, crypto.randomUUID()),
  )
  const rings: { account: AccountId; ring: Ring }[] = []
  const bus = createInProcessBus()
  bus.listen((account, ring) => rings.push({ account, ring }))
  const log = createLog('silent')
  const sentIdCounts = new SentIdCounts({ storage: store.storage, clock, limits })
  const parts = {
    bus,
    clock,
    limits,
    sentIdCounts,
    log,
    space: ampleSpace,
    metrics: new RelayMetrics({ log, clock }),
  }
  const commitsOn = (storage: Storage): GroupCommit =>
    new GroupCommit({ ...parts, store: createBatchStore(storage), onRecovered: () => undefined })
  const commits = commitsOn(store.storage)
  const reader = new MailboxReader(store.storage)
  return {
    ...{ store, clock, log, limits, alice, bob, carol, conv, bus, rings, commits, commitsOn, reader },
    run: async (operation) => {
      const outcome = await commits.submit(operation)
      if ('refused' in outcome) throw outcome.refused
      if ('isReplaced' in outcome) throw new ReplacedError()
      return outcome.answers
    },
    refusal: async (operation) => {
      const outcome = await commits.submit(operation)
      if ('isReplaced' in outcome) return 'replaced'
      return 'refused' in outcome ? outcome.refused.code : 'accepted'
    },
    send: (from, to, id, payload = 'AAAA', convId = conv, after) => ({
      kind: 'append',
      account: from.id,
      frame: frameOf({ type: 'msg', id, to: to.alias, conv_id: convId, crypto_v: 1, payload, after }, 'msg'),
    }),
    retract: (from, to, id) => ({
      kind: 'retract',
      account: from.id,
      frame: frameOf({ type: 'retract', id, to: to.alias, conv_id: conv }, 'retract'),
    }),
    sendInEpoch: (from, to, id, epoch, groupInfo) => {
      const fields = { type: 'msg', id, to: to.alias, conv_id: conv, crypto_v: 3, payload: 'AAAA', epoch }
      const frame = frameOf({ ...fields, group_info: groupInfo }, 'msg')
      return { kind: 'append', account: from.id, frame }
    },
    receipt: (reading, to, type, seq, by) => ({
      kind: 'receipt',
      account: reading.id,
      frame: frameOf({ type, conv_id: conv, seq, to: to.alias }, type),
      readsVersion3: by === undefined,
    }),
    waitingFor: async (person) =>
      (await reader.read(person.id, 0, 1000)).map(({ frame }) => JSON.parse(frame)),
  }
}
