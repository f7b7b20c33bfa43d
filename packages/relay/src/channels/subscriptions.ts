// Subscriptions to channels: as rows, and as topics that connections of subscribers listen to.
import { type ChannelId, type Limits, ProtocolError } from '@sotto/protocol'
import { lockAccounts } from '../accounts/accounts.ts'
import type { Bus } from '../cluster/bus.ts'
import type { Connection } from '../gateway/connection.ts'
import type { Clock } from '../operations/clock.ts'
import type { Log } from '../operations/log.ts'
import { Repeatable } from '../operations/repeatable.ts'
import { RepeatedWarning } from '../operations/repeated-warning.ts'
import { Together } from '../operations/together.ts'
import { type AccountId, list, query, type Sql, type Storage } from '../storage/storage.ts'
import { lockChannel } from './catalog.ts'
import type { ChannelNumber } from './channel-row.ts'
import { raiseLevel } from './word-index.ts'

/**
 * Subscribes an account. @returns the channel's number @throws ProtocolError `NOT_FOUND`,
 * `TOO_MANY_SUBSCRIPTIONS`
 */
export async function subscribe(
  sql: Sql,
  target: { id: ChannelId; caller: AccountId },
  parts: { clock: Clock; limits: Limits },
): Promise<ChannelNumber> {
  const { id, caller } = target
  if (!(await lockAccounts(sql, [caller]))) throw new ProtocolError('TOKEN_DEAD')
  const channel = await lockChannel(sql, id)
  const [others] = await sql<{ count: number }>`
    SELECT COUNT(*) AS count FROM channel_subscriptions WHERE account_id = ${caller} AND channel <> ${channel}
      AND channel NOT IN (SELECT channel FROM channel_purges)`
  if ((others?.count ?? 0) >= parts.limits.subscriptions) throw new ProtocolError('TOO_MANY_SUBSCRIPTIONS')
  const added = await sql<{ channel: number }>`
    INSERT INTO channel_subscriptions (account_id, channel, created_at)
    VALUES (${caller}, ${channel}, ${parts.clock.now()}) ON CONFLICT DO NOTHING RETURNING channel`
  if (added.length === 0) return channel
  const [row] = await sql<{ subscriber_count: number }>`
    UPDATE channels SET subscriber_count = subscriber_count + 1 WHERE id = ${channel} RETURNING subscriber_count`
  if (row) await raiseLevel(sql, channel, row.subscriber_count)
  return channel
}

/** Ends a subscription. @returns the channel's number @throws ProtocolError `NOT_FOUND` */
export async function unsubscribe(
  sql: Sql,
  { id, caller }: { id: ChannelId; caller: AccountId },
): Promise<ChannelNumber> {
  const channel = await lockChannel(sql, id)
  const gone = await sql<{ channel: number }>`
    DELETE FROM channel_subscriptions WHERE account_id = ${caller} AND channel = ${channel} RETURNING channel`
  await sql`UPDATE channels SET subscriber_count = subscriber_count - ${gone.length} WHERE id = ${channel}`
  return channel
}

/** The subscriptions of how many accounts one query reads. */
const LOADED_TOGETHER = 256

/** The topic on which posts of a channel are published. */
export function topicOf(channel: ChannelNumber): string {
  return `channel ${channel}`
}

interface TrackedConnection {
  readonly connection: Connection
  isLoading: boolean
  /** Topics that changed since the last read of the store. */
  readonly changedTopics: Set<string>
  /** How often they changed, so that an older read does not undo a change. */
  changeCount: number
}

/**
 * Keeps each connection on the topics of its account's subscriptions, from its start and whenever they
 * change.
 */
export class SubscribedConnections {
  readonly #storage: Storage
  readonly #log: Log
  readonly #connections = new Map<AccountId, TrackedConnection>()
  readonly #reload: Repeatable
  /** Reads the channels of accounts whose connections open at the same time. */
  readonly #channels = new Together((accounts: readonly AccountId[]) => this.#read(accounts))

  constructor(parts: { storage: Storage; bus: Bus; log: Log; clock: Clock }) {
    this.#storage = parts.storage
    this.#log = parts.log
    const loadFailed = new RepeatedWarning('subscriptions_unread', parts)
    this.#reload = new Repeatable(
      () => this.#loadAll(),
      (error) => loadFailed.happened({ error }),
    )
    parts.bus.listenToLoss(() => this.#reload.request())
    parts.bus.listen((account, change) => {
      const tracked = this.#connections.get(account)
      if (!tracked || change.kind !== 'topic') return
      if (change.isWanted) tracked.connection.subscribe(change.topic)
      else tracked.connection.unsubscribe(change.topic)
      // Notifications on the bus can arrive out of order, and a read in progress may be older than this one.
      // So read the store again: it decides.
      tracked.changedTopics.add(change.topic)
      tracked.changeCount += 1
      if (!tracked.isLoading) this.#startLoading(tracked)
    })
  }

  opened(connection: Connection): void {
    const tracked: TrackedConnection = {
      connection,
      isLoading: false,
      changedTopics: new Set(),
      changeCount: 0,
    }
    this.#connections.set(connection.account, tracked)
    this.#startLoading(tracked)
  }

  closed(connection: Connection): void {
    if (this.#connections.get(connection.account)?.connection === connection)
      this.#connections.delete(connection.account)
  }

  #startLoading(tracked: TrackedConnection): void {
    tracked.isLoading = true
    this.#load(tracked).catch((error) => {
      this.#log.error('subscriptions_failed', { error, account: tracked.connection.account })
      tracked.connection.close('overload')
    })
  }

  async #load(tracked: TrackedConnection): Promise<void> {
    do {
      const changedTopics = [...tracked.changedTopics]
      tracked.changedTopics.clear()
      const channels = await this.#channels.do(tracked.connection.account)
      const wanted = new Set(channels.map(topicOf))
      for (const topic of wanted) tracked.connection.subscribe(topic)
      for (const topic of changedTopics) if (!wanted.has(topic)) tracked.connection.unsubscribe(topic)
    } while (tracked.changedTopics.size > 0)
    tracked.isLoading = false
  }

  /** Reads the subscriptions of all connections, because changes of them may have been lost. */
  async #loadAll(): Promise<void> {
    const all = [...this.#connections.values()]
    for (let i = 0; i < all.length; i += LOADED_TOGETHER) {
      const some = all
        .slice(i, i + LOADED_TOGETHER)
        .map((tracked) => ({ tracked, before: tracked.changeCount }))
      const accounts = some.map(({ tracked }) => tracked.connection.account)
      const channels = await this.#read(accounts)
      for (const [index, { tracked, before }] of some.entries()) {
        if (tracked.changeCount !== before || tracked.isLoading) continue
        const { connection } = tracked
        const wanted = new Set(channels[index]?.map(topicOf))
        for (const topic of connection.topics) if (!wanted.has(topic)) connection.unsubscribe(topic)
        for (const topic of wanted) connection.subscribe(topic)
      }
    }
  }

  /** The channels that accounts, at least one, are subscribed to, in the order of the accounts. */
  async #read(accounts: readonly AccountId[]): Promise<ChannelNumber[][]> {
    const rows = await this.#storage.sql<{ account_id: AccountId; channel: ChannelNumber }>(
      ...query`SELECT account_id, channel FROM channel_subscriptions WHERE account_id IN ${list(accounts)}`,
    )
    const rowsOf = Map.groupBy(rows, ({ account_id }) => account_id)
    return accounts.map((account) => (rowsOf.get(account) ?? []).map(({ channel }) => channel))
  }
}
