// The clients of a round, each in its place. Two neighbours on either side are its friends. A new client
// replaces each client that deletes its account.
import { befriend, type WireAccount, wireAccount } from '@sotto/relay/testing/wire'
import { Client } from './client.ts'
import type { History } from './history.ts'
import { type Address, addressesOf } from './node.ts'
import { Random } from './random.ts'
import type { Target } from './target.ts'

const FRIENDS_EACH = 2

export class Crowd {
  /** By place. */
  readonly clients: Client[] = []
  readonly #target: Target
  readonly #history: History
  readonly #seed: number
  readonly #random: Random
  readonly #addresses: readonly Address[]
  #count = 0
  #isQuiet = false
  #isOver = false

  private constructor(parts: { target: Target; history: History; seed: number }) {
    this.#target = parts.target
    this.#history = parts.history
    this.#seed = parts.seed
    this.#random = new Random(parts.seed, 3)
    this.#addresses = addressesOf(parts.target.nodes, 'through wires')
  }

  /** Makes this many clients and their friendships. */
  static async gather(
    count: number,
    parts: { target: Target; history: History; seed: number },
  ): Promise<Crowd> {
    const crowd = new Crowd(parts)
    for (let place = 0; place < count; place++)
      crowd.#seat(
        place,
        await wireAccount(parts.target.nodes[place % parts.target.nodes.length]?.relay.url ?? ''),
      )
    const { clients } = crowd
    for (const [place, one] of clients.entries()) {
      for (let step = 1; step <= FRIENDS_EACH; step++) {
        const other = (place + step) % count
        const peer = clients[other]
        if (!peer || other === place || one.circle.friends().some(({ to }) => to === peer.account.alias))
          continue
        const conv = await befriend(one.account, peer.account)
        one.circle.meet(peer.account.alias, conv)
        peer.circle.meet(one.account.alias, conv)
        const members = [
          { client: place, alias: one.account.alias },
          { client: other, alias: peer.account.alias },
        ] as const
        parts.history.add({ type: 'friends', conv, members })
      }
    }
    return crowd
  }

  tick(now: number): void {
    for (const client of this.clients) client.tick(now)
  }

  /** Makes a client delete its account. A new client takes its place and sends requests to the neighbours. */
  depart(random: Random): void {
    const staying = this.clients.filter(({ isLeaving }) => !isLeaving)
    if (staying.length === 0) return
    const one = random.pick(staying)
    one.leave(() => void this.#follow(this.clients.indexOf(one)))
  }

  quieten(): void {
    this.#isQuiet = true
    const addresses = addressesOf(this.#target.nodes, 'directly')
    for (const client of this.clients) client.quieten(addresses)
  }

  /** Whether all clients are connected for the rest of the round. */
  get isSettled(): boolean {
    return this.clients.every(({ isSettled }) => isSettled)
  }

  /** Makes each client write to all its friends. */
  writeToAll(): void {
    for (const client of this.clients) client.writeToAll()
  }

  /** Ends all connections; all clients reconnect. */
  disconnect(): void {
    for (const client of this.clients) client.disconnect(0)
  }

  stop(): void {
    this.#isOver = true
    for (const client of this.clients) client.stop()
  }

  async #follow(place: number): Promise<void> {
    const account = await this.#register()
    if (!account || this.#isOver) return
    const newcomer = this.#seat(place, account)
    const count = this.clients.length
    for (let step = -FRIENDS_EACH; step <= FRIENDS_EACH; step++) {
      const neighbour = this.clients[(place + step + count) % count]
      if (neighbour && neighbour !== newcomer) newcomer.circle.meet(neighbour.account.alias)
    }
    if (this.#isQuiet) newcomer.quieten(addressesOf(this.#target.nodes, 'directly'))
  }

  /** Retries until it works, because the relay may be down. An abandoned attempt leaves an unused account. */
  async #register(): Promise<WireAccount | undefined> {
    while (!this.#isOver) {
      try {
        const account = await wireAccount(this.#random.pick(this.#addresses).url)
        if (account.alias && account.token) return account
      } catch {
        // The relay is down; try again.
      }
      await Bun.sleep(100)
    }
    return undefined
  }

  #seat(place: number, account: WireAccount): Client {
    const number = this.#count
    this.#count += 1
    this.#history.add({ type: 'account', client: number, alias: account.alias })
    const random = new Random(this.#seed, 2, number)
    const client = new Client(number, account, {
      ...{ history: this.#history, random, addresses: this.#addresses },
    })
    this.clients[place] = client
    return client
  }
}
