// What happens in a schedule: users write, read and retract, networks fail, friendships end and begin again.
import type { Random } from '../../../../bench/faults/random.ts'
import type { Judge, Pair } from './judge.ts'
import type { ModelClient } from './model-client.ts'
import { type Moments, untilItWorks } from './moments.ts'

/** How long the handlers of an `ack` take on the last connection. Marks come half a second after it. */
const SLOW_ACK_MS = 250

export class Run {
  readonly #clients: readonly ModelClient[]
  readonly #pairs: Pair[]
  readonly #judge: Judge
  readonly #moments: Moments
  readonly #random: Random
  readonly #patienceMs: number
  readonly #friendships = new Map<string, number>()
  readonly #parted = new Set<Pair>()

  constructor(parts: {
    clients: readonly ModelClient[]
    pairs: Pair[]
    judge: Judge
    moments: Moments
    random: Random
    patienceMs: number
  }) {
    this.#clients = parts.clients
    this.#pairs = parts.pairs
    this.#judge = parts.judge
    this.#moments = parts.moments
    this.#random = parts.random
    this.#patienceMs = parts.patienceMs
  }

  /** Makes two accounts friends. One of them may write at once; the other may not know of it yet. */
  async befriend(clients: readonly [ModelClient, ModelClient]): Promise<Pair> {
    const [asks, accepts] = this.#random.chance(0.5) ? clients : ([clients[1], clients[0]] as const)
    const conv = await untilItWorks(async () => {
      const asked = await asks.account.post('/friends/request', { to_alias_id: accepts.account.alias })
      const id = asked.body.friendship_id
      if (id !== undefined) await accepts.account.bare('PUT', `/friends/${id}/accept`)
      const [some, others] = await Promise.all([conversationsOf(asks), conversationsOf(accepts)])
      const shared = some.find((one) => others.includes(one))
      if (shared !== undefined && id !== undefined) this.#friendships.set(shared, id)
      return shared
    })
    const known = this.#pairs.find((pair) => pair.conv === conv)
    const pair = known ?? { conv, clients }
    if (!known) this.#pairs.push(pair)
    const writer = this.#random.pick(clients)
    if (this.#random.chance(0.8) && !writer.isFrozen) await writer.askForFriends()
    return pair
  }

  /** One thing that happens, and the time until the next. */
  async step(): Promise<void> {
    const client = this.#random.pick(this.#clients)
    const dice = this.#random.next()
    if (client.isFrozen || !client.isConnected) {
      if (dice < 0.5) this.#comeBack(client)
      else if (dice < 0.6) this.#write(client)
    } else if (dice < 0.5) this.#write(client)
    else if (dice < 0.64) this.#read(client)
    else if (dice < 0.72) this.#retract(client)
    else if (dice < 0.79) client.disconnect()
    else if (dice < 0.85) client.leaveHalfOpen()
    else if (dice < 0.91) client.freeze()
    else if (dice < 0.95) this.#comeBack(client)
    else if (dice < 0.98) await client.askForFriends()
    else await this.#part()
    const length = this.#random.next()
    const most = length < 0.6 ? 60 : length < 0.9 ? 400 : 1500
    await Bun.sleep(this.#random.between(0, most))
  }

  /**
   * Connects everybody, and waits until nothing is missing. Then everybody confirms, and the senders see
   * it: first on the same connection, then on a last one that repeats.
   */
  async settle(): Promise<{ lost: string[]; withheld: string[] }> {
    for (const pair of this.#parted) await this.befriend(pair.clients)
    const late = performance.now() + this.#patienceMs
    do {
      await Promise.all(this.#clients.map((client) => client.connect()))
      await Promise.all(this.#clients.map((client) => client.askForFriends()))
      await this.#moments.until(() => this.#judge.unanswered.length === 0, this.#patienceMs / 6)
    } while (this.#judge.unanswered.length > 0 && performance.now() < late)
    const missing = () => [...this.#judge.lost, ...this.#judge.keptInSpiteOfRetraction]
    await this.#moments.until(() => this.#isIdle && missing().length === 0, this.#patienceMs)
    const lost = [...this.#judge.unanswered, ...missing()]

    // A mark that overtook the first ack of a message is shown after the next connection.
    const stillWithheld = () => this.#judge.withheld().filter(({ isOvertaken }) => !isOvertaken)
    const isRead = this.#pairs.map(() => [this.#random.chance(0.7), this.#random.chance(0.7)] as const)
    await this.#untilShown(isRead, () => this.#isIdle && stillWithheld().length === 0)
    const withheld = stillWithheld()
    for (const client of this.#clients) client.slowAcksMs = SLOW_ACK_MS
    for (let attempt = 0; attempt < 3; attempt++) {
      await Promise.all(this.#clients.map((client) => client.connect()))
      const isShown = () => this.#isIdle && this.#judge.withheld().length === 0
      if (await this.#moments.until(isShown, this.#patienceMs / 6)) break
    }
    withheld.push(...this.#judge.withheld())
    return { lost, withheld: withheld.map(({ text }) => text) }
  }

  /** Whether no handler is running, so that what the clients show is final. */
  get #isIdle(): boolean {
    return this.#clients.every(({ running }) => running === 0)
  }

  // What a connection takes with it when it ends is lost, so it is confirmed again.
  async #untilShown(isRead: readonly (readonly boolean[])[], isShown: () => boolean): Promise<void> {
    for (let ms = 0; ms < this.#patienceMs / 2; ms += 5000) {
      await this.#moments.until(() => this.#clients.every(({ isConnected }) => isConnected), this.#patienceMs)
      for (const [index, { conv, clients }] of this.#pairs.entries()) {
        for (const [side, client] of clients.entries()) {
          const { decrypted, read } = client.inbox(conv)
          if (isRead[index]?.[side]) client.read(conv)
          else if (decrypted > 0) client.confirm('delivered', conv, decrypted)
          // What was read without a connection is told now.
          if (read > 0) client.confirm('read', conv, read)
        }
      }
      if (await this.#moments.until(isShown, 5000)) return
    }
  }

  #write(client: ModelClient): void {
    if (client.sessions.size === 0 || client.isFrozen) return
    const conv = this.#random.pick([...client.sessions.keys()])
    for (let count = this.#random.whole(1, 4); count > 0; count--) client.write(conv)
  }

  #read(client: ModelClient): void {
    if (client.inboxes.size > 0) client.read(this.#random.pick([...client.inboxes.keys()]))
  }

  #retract(client: ModelClient): void {
    const recent = client.own.filter(({ isRetracted }) => !isRetracted).slice(-3)
    if (recent.length > 0) client.retract(this.#random.pick(recent))
  }

  #comeBack(client: ModelClient): void {
    if (client.isFrozen && this.#random.chance(0.7)) client.thaw()
    else void client.connect().catch((error) => client.faults.push(String(error)))
  }

  /** Ends a friendship; it begins again at the end. */
  async #part(): Promise<void> {
    const pair = this.#random.pick(this.#pairs)
    const id = this.#friendships.get(pair.conv)
    if (id === undefined || this.#parted.has(pair)) return
    await untilItWorks(() => pair.clients[0].account.bare('DELETE', `/friends/${id}`))
    this.#parted.add(pair)
    for (const message of pair.clients.flatMap(({ own }) => own)) {
      if (message.conv === pair.conv) message.mayBeErased = true
    }
  }
}

async function conversationsOf(client: ModelClient): Promise<string[]> {
  const { conversations } = (await client.account.get('/conversations/active')).body
  return conversations.map(({ conv_id }: { conv_id: string }) => conv_id)
}
