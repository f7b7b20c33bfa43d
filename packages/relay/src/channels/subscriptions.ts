// Who is subscribed to what: as rows, and as topics of the connections that are there.
import { type ChannelId, type Limits, ProtocolError } from '@sotto/protocol'
import { lockAccounts } from '../accounts/accounts.ts'
import type { Bus } from '../cluster/bus.ts'
import type { Connection } from '../gateway/connection.ts'
import type { Clock } from '../operations/clock.ts'
import type { Log } from '../operations/log.ts'
import type { AccountId, Sql, Storage } from '../storage/storage.ts'
import { type ChannelNumber, lockChannel } from './catalog.ts'

/** Subscribes an account. @returns the channel's number @throws ProtocolError `NOT_FOUND`, `TOO_MANY_SUBSCRIPTIONS` */
export async function subscribe(
  sql: Sql,
  target: { id: ChannelId; caller: AccountId },
  parts: { clock: Clock; limits: Limits },
): Promise<ChannelNumber> {
  const { id, caller } = target
  if (!(await lockAccounts(sql, [caller]))) throw new ProtocolError('TOKEN_DEAD')
  const channel = await lockChannel(sql, id)
  const [others] = await sql<{ count: number }>`
    SELECT COUNT(*) AS count FROM channel_subscriptions WHERE account_id = ${caller} AND channel <> ${channel}`
  if ((others?.count ?? 0) >= parts.limits.subscriptions) throw new ProtocolError('TOO_MANY_SUBSCRIPTIONS')
  const added = await sql<{ channel: number }>`
    INSERT INTO channel_subscriptions (account_id, channel, created_at)
    VALUES (${caller}, ${channel}, ${parts.clock.now()}) ON CONFLICT DO NOTHING RETURNING channel`
  await sql`UPDATE channels SET subscriber_count = subscriber_count + ${added.length} WHERE id = ${channel}`
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

/** The topic posts of a channel are published under. */
export function topicOf(channel: ChannelNumber): string {
  return `channel ${channel}`
}

interface Held {
  readonly connection: Connection
  isLoading: boolean
  /** Topics that changed since the store was last asked. */
  readonly touched: Set<string>
}

/** Puts each connection on the topics of its account's subscriptions, from its beginning and as they change. */
export class SubscribedConnections {
  readonly #storage: Storage
  readonly #log: Log
  readonly #connections = new Map<AccountId, Held>()

  constructor(parts: { storage: Storage; bus: Bus; log: Log }) {
    this.#storage = parts.storage
    this.#log = parts.log
    parts.bus.listen((account, ring) => {
      const held = this.#connections.get(account)
      if (!held || ring.kind !== 'topic') return
      if (ring.isWanted) held.connection.subscribe(ring.topic)
      else held.connection.unsubscribe(ring.topic)
      // Rings can overtake each other, and what is being read may be older than this one: the store has the last word.
      held.touched.add(ring.topic)
      if (!held.isLoading) this.#start(held)
    })
  }

  opened(connection: Connection): void {
    const held: Held = { connection, isLoading: false, touched: new Set() }
    this.#connections.set(connection.account, held)
    this.#start(held)
  }

  closed(connection: Connection): void {
    if (this.#connections.get(connection.account)?.connection === connection)
      this.#connections.delete(connection.account)
  }

  #start(held: Held): void {
    held.isLoading = true
    this.#load(held).catch((error) => {
      this.#log.error('subscriptions_failed', { error, account: held.connection.account })
      held.connection.close('overload')
    })
  }

  async #load(held: Held): Promise<void> {
    do {
      const touched = [...held.touched]
      held.touched.clear()
      const rows = await this.#storage.sql<{ channel: ChannelNumber }>`
        SELECT channel FROM channel_subscriptions WHERE account_id = ${held.connection.account}`
      const wanted = new Set(rows.map(({ channel }) => topicOf(channel)))
      for (const topic of wanted) held.connection.subscribe(topic)
      for (const topic of touched) if (!wanted.has(topic)) held.connection.unsubscribe(topic)
    } while (held.touched.size > 0)
    held.isLoading = false
  }
}
