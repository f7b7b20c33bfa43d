// A realistic client. It keeps sent messages until they are acknowledged and received messages permanently,
// reconnects whenever it is cut off, and does not know about the injected faults.
import type { WireAccount } from '@sotto/relay/testing/wire'
import { Circle, type FallingOut } from './circle.ts'
import type { Frame, History } from './history.ts'
import { Link, within } from './link.ts'
import type { Address } from './node.ts'
import type { Random } from './random.ts'

interface Outgoing {
  readonly frame: Frame
  /** When a refused message may be tried again. */
  againMs: number | undefined
}

/** A conversation's state, as the client stored it. */
interface Shelf {
  received: number
  delivered: number
  read: number
}

const MOST_UNANSWERED = 40
const MOST_SENT_AGAIN = 40
const PING_EVERY_MS = 700
const GIVE_UP_MS = 3500

export class Client {
  readonly circle: Circle
  /** How many times every frame is sent. */
  times = 1
  /** Where it may connect; it chooses one for each connection. */
  #addresses: readonly Address[]
  readonly account: WireAccount
  readonly #number: number
  readonly #history: History
  readonly #random: Random
  /** Repeats everything on each reconnect and ignores the `seq` of marks, as published clients do. */
  readonly #sendsAllAgain: boolean
  readonly #confirmsByRead: boolean
  readonly #shelves = new Map<string, Shelf>()
  #outbox: Outgoing[] = []
  #sent: Frame[] = []
  #ids = 0
  #link: Link | undefined
  #isConnecting = false
  #needsLogin = false
  #nextTryMs = 0
  #pingMs = 0
  #deafUntilMs = 0
  #isQuiet = false
  #isOver = false

  constructor(
    number: number,
    account: WireAccount,
    parts: { history: History; random: Random; addresses: readonly Address[] },
  ) {
    this.#number = number
    this.account = account
    this.#history = parts.history
    this.#random = parts.random
    this.#addresses = parts.addresses
    this.circle = new Circle({ ...parts, account, client: number })
    this.#sendsAllAgain = number % 3 === 2
    this.#confirmsByRead = number % 4 === 1
  }

  /** Makes the next step of the client, if it is time for one. */
  tick(now: number): void {
    if (this.#isOver) return
    this.circle.tick(now, this.#isQuiet)
    const link = this.#link
    if (!link || link.isOver) {
      if (!this.#isConnecting && now >= this.#nextTryMs) void this.#connect()
      return
    }
    if (this.#deafUntilMs > 0 && now > this.#deafUntilMs) this.#hearAgain(link)
    if (this.#deafUntilMs === 0 && now - link.heardMs > GIVE_UP_MS) {
      link.close()
      this.#lose(link, now)
      return
    }
    if (now > this.#pingMs) {
      this.#pingMs = now + PING_EVERY_MS
      this.#send({ type: 'ping' })
    }
    this.#sendRefused(now)
    if (this.#isQuiet) this.#confirmAll()
    else this.#live(link, now)
  }

  /** Closes its connection and reconnects later. */
  disconnect(backAfterMs: number): void {
    const link = this.#link
    if (!link) return
    link.close()
    this.#lose(link, performance.now() + backAfterMs)
  }

  /** If it is not connected, it stays so until {@link overtake}. */
  stayAway(): void {
    this.#nextTryMs = Number.POSITIVE_INFINITY
  }

  /** Connects now, also while its last connection is still open. */
  overtake(): void {
    this.#link = undefined
    this.#nextTryMs = 0
  }

  /** Reads nothing for a while, and may disconnect without reading. */
  deafen(ms: number): void {
    if (!this.#link || this.#deafUntilMs > 0) return
    this.#link.pause()
    this.#deafUntilMs = performance.now() + ms
  }

  /** Makes no new messages from now on; only sends pending ones and confirms received ones. */
  quieten(addresses: readonly Address[]): void {
    this.#isQuiet = true
    this.times = 1
    this.#addresses = addresses
    this.disconnect(0)
  }

  /** Whether it is connected to stay. */
  get isSettled(): boolean {
    return this.#isQuiet && this.#link !== undefined && !this.#link.isOver
  }

  /** Writes a message to each friend. */
  writeToAll(): void {
    for (const friend of this.circle.friends()) this.#writeTo(friend)
  }

  /** Unfriends or blocks a friend, and makes friends again some time later. */
  fallOut(how: FallingOut): void {
    this.circle.fallOut(how)
  }

  /** Deletes its account while it is active. Calls `onGone` when that is done. */
  leave(onGone: () => void): void {
    this.circle.leave(() => {
      this.stop()
      onGone()
    })
  }

  get isLeaving(): boolean {
    return this.circle.isLeaving
  }

  stop(): void {
    this.#isOver = true
    this.#link?.close()
  }

  #live(link: Link, now: number): void {
    const random = this.#random
    if (random.chance(0.12)) for (let left = random.whole(1, 5); left > 0; left--) this.#write()
    if (random.chance(0.02)) this.#confirmAll()
    if (random.chance(0.008)) this.#retract()
    if (random.chance(0.01)) this.#signTyping()
    if (random.chance(0.002)) this.#sync()
    if (random.chance(0.003)) {
      link.close()
      // Some stay offline until more waits for them than the relay's window.
      this.#lose(link, now + (random.chance(0.3) ? random.between(800, 2500) : random.between(0, 400)))
    }
  }

  #write(): void {
    if (this.#outbox.length >= MOST_UNANSWERED) return
    const friend = this.#pickFriend()
    if (friend) this.#writeTo(friend)
  }

  #writeTo({ to, conv_id }: { to: string; conv_id: string }): void {
    this.#ids += 1
    // The client's own id: a retraction sent before its message must not name a message of the other side.
    const id = `c${this.#number}-m${this.#ids}`
    const text = `${this.#number} ${id} `.padEnd(this.#random.pick([20, 100, 1000, 6000]), id)
    const payload = Buffer.from(text).toString('base64')
    const frame = { type: 'msg', id, to, conv_id, crypto_v: 1, payload }
    this.#sent.push(frame)
    if (this.#sent.length > MOST_SENT_AGAIN) this.#sent.shift()
    // Sometimes a retraction is sent before its message.
    if (this.#random.chance(0.005)) this.#queue({ type: 'retract', id, to, conv_id })
    this.#queue(frame)
  }

  #retract(): void {
    const last = this.#sent.at(-this.#random.whole(1, 6))
    if (!last) return
    const { id = '', to = '', conv_id = '' } = last
    if (this.#outbox.some(({ frame }) => frame.type === 'retract' && frame.id === id)) return
    this.#queue({ type: 'retract', id, to, conv_id })
  }

  #signTyping(): void {
    const friend = this.#pickFriend()
    if (friend) this.#send({ type: 'typing', ...friend })
  }

  // An unfriended or blocked client is not told, and keeps writing until it is refused.
  #pickFriend(): { to: string; conv_id: string } | undefined {
    const friends = this.circle.friends()
    return friends.length > 0 ? this.#random.pick(friends) : undefined
  }

  #queue(frame: Frame): void {
    this.#outbox.push({ frame, againMs: undefined })
    this.#send(frame)
  }

  #send(frame: Frame): void {
    this.#link?.send(frame, this.times)
  }

  #sendRefused(now: number): void {
    for (const outgoing of this.#outbox) {
      if (outgoing.againMs === undefined || outgoing.againMs > now) continue
      outgoing.againMs = undefined
      this.#send(outgoing.frame)
    }
  }

  #confirmAll(): void {
    for (const [conv, shelf] of this.#shelves) this.#confirm(conv, shelf)
  }

  #confirm(conv_id: string, shelf: Shelf): void {
    const to = this.circle.aliasIn(conv_id)
    if (to === undefined) return // Its first message arrived before the news of the friendship.
    const seq = shelf.received
    if (shelf.delivered < seq && !this.#confirmsByRead) this.#send({ type: 'delivered', conv_id, seq, to })
    shelf.delivered = Math.max(shelf.delivered, seq)
    if (shelf.read === seq || !(this.#confirmsByRead || this.#isQuiet || this.#random.chance(0.3))) return
    this.#send({ type: 'read', conv_id, seq, to })
    shelf.read = seq
  }

  async #connect(): Promise<void> {
    this.#isConnecting = true
    try {
      this.account.base = this.#random.pick(this.#addresses).url
      if (this.#needsLogin) await within(this.account.login())
      this.#needsLogin = false
      const link = await Link.open(
        { account: this.account, client: this.#number, history: this.#history },
        {
          to: this.#random.pick(this.#addresses),
          byTicket: this.#random.chance(0.2),
          onFrame: (frame, from) => this.#received(frame, from),
          onClose: () => this.#lose(link, performance.now() + this.#random.between(0, 100)),
        },
      )
      this.#link = link
      this.#begin()
    } catch (error) {
      if (String(error).includes(' 401 ')) this.#needsLogin = true
      this.#nextTryMs = performance.now() + this.#random.between(30, 200)
    } finally {
      this.#isConnecting = false
    }
  }

  #begin(): void {
    this.#deafUntilMs = 0
    // These marks may never have arrived, so the client repeats them.
    for (const shelf of this.#shelves.values()) Object.assign(shelf, { delivered: 0, read: 0 })
    if (this.#random.chance(0.7) || this.#isQuiet) this.#sync()
    const waiting = this.#outbox.map(({ frame }) => frame)
    const again =
      this.#sendsAllAgain && !this.#isQuiet ? this.#sent.filter((sent) => !waiting.includes(sent)) : []
    for (const frame of [...again, ...waiting]) this.#send(frame)
  }

  #sync(): void {
    this.#send(this.#sendsAllAgain ? { type: 'sync', crypto_v: 1 } : { type: 'sync', receipts: 'by_seq' })
  }

  #lose(link: Link, backMs: number): void {
    if (this.#link !== link) return
    this.#link = undefined
    this.#nextTryMs = backMs
  }

  #hearAgain(link: Link): void {
    this.#deafUntilMs = 0
    link.heardMs = performance.now()
    if (this.#random.chance(0.5)) link.resume()
    else this.disconnect(0)
  }

  #received(frame: Frame, link: Link): void {
    const { type, id, conv_id = '', seq = 0 } = frame
    if (type === 'goaway') this.#needsLogin = true
    else if (type === 'ack') this.#answered('msg', id)
    else if (type === 'retract_ack') this.#answered('retract', id)
    else if (type === 'friend_request' || type === 'friend_accepted') this.circle.hear(frame)
    else if (type === 'error' && frame.error === 'NOT_FRIENDS') this.#letGo(id, conv_id)
    else if (type === 'error') this.#refused(id)
    else if (type === 'msg') {
      const shelf = this.#shelves.get(conv_id) ?? { received: 0, delivered: 0, read: 0 }
      this.#shelves.set(conv_id, shelf)
      shelf.received = Math.max(shelf.received, seq)
      // A repeated message was certainly not confirmed.
      shelf.delivered = Math.min(shelf.delivered, seq - 1)
      if (link === this.#link && this.#random.chance(0.3)) this.#confirm(conv_id, shelf)
    }
  }

  #answered(type: string, id: string | undefined): void {
    this.#outbox = this.#outbox.filter(({ frame }) => frame.type !== type || frame.id !== id)
  }

  #letGo(id: string | undefined, conv_id: string): void {
    if (id !== undefined) this.#outbox = this.#outbox.filter(({ frame }) => frame.id !== id)
    this.circle.doubt(conv_id)
  }

  #refused(id: string | undefined): void {
    const againMs = performance.now() + 300
    if (id === undefined) for (const shelf of this.#shelves.values()) shelf.delivered = shelf.read = 0
    for (const outgoing of this.#outbox) if (outgoing.frame.id === id) outgoing.againMs = againMs
  }
}
