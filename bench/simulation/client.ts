// A client of a simulation. It keeps what it sent until that is acknowledged, and for good what it received.
// It connects again whenever it is cut off, to any node, and does not know of the faults. A person may have a
// second device, which takes the account over with another token and the same memory.

import { type Frame, type HistoryEvent, recordable } from '../faults/history.ts'
import type { Random } from '../faults/random.ts'
import { Line } from './line.ts'
import type { SimulatedNode } from './node.ts'
import type { Owner, Schedule } from './schedule.ts'
import type { Weather } from './weather.ts'

interface Outgoing {
  readonly frame: Frame
  /** When a refused frame may be tried again. */
  againAt: number | undefined
}

/** What the client stored of a conversation. */
interface Shelf {
  received: number
  delivered: number
  read: number
}

interface Friend {
  readonly to: string
  readonly conv_id: string
}

export interface ClientParts {
  readonly number: number
  readonly friends: readonly Friend[]
  readonly random: Random
  readonly schedule: Schedule
  readonly weather: Weather
  readonly events: HistoryEvent[]
  /** A node that takes connections, by chance; undefined if none does. */
  readonly findNode: () => SimulatedNode | undefined
  /** A new token: a login. */
  readonly issueToken: () => string
  readonly nextConnection: () => number
  readonly opened: (line: Line) => void
}

const PING_EVERY_MS = 2000
const GIVE_UP_MS = 6500
const AGAIN_MS = 300
const MOST_UNANSWERED = 12

/** A connection as its client sees it. */
interface Link {
  readonly line: Line
  readonly connection: number
  isOpen: boolean
  heardAt: number
}

export class SimulatedClient {
  readonly owner: Owner
  readonly #parts: ClientParts
  /** Repeats everything on each reconnect and ignores the `seq` of marks, as published clients do. */
  readonly #sendsAllAgain: boolean
  readonly #confirmsByRead: boolean
  readonly #shelves = new Map<string, Shelf>()
  #outbox: Outgoing[] = []
  #sent: Frame[] = []
  #ids = 0
  #token: string
  #link: Link | undefined
  #isWaitingToConnect = false
  #isQuiet = false

  constructor(parts: ClientParts) {
    this.#parts = parts
    this.owner = { name: `client ${parts.number}`, isDead: false, asleepUntil: 0 }
    this.#sendsAllAgain = parts.number % 3 === 2
    this.#confirmsByRead = parts.number % 4 === 1
    this.#token = parts.issueToken()
    this.#connectIn(parts.random.between(1, 50))
    this.#beat()
  }

  /** Whether nothing that it sent waits for an answer. */
  get isAnswered(): boolean {
    return this.#outbox.length === 0
  }

  /** Does something that people do. */
  act(): void {
    const { random } = this.#parts
    const what = random.next()
    if (what < 0.62) for (let left = random.whole(1, 3); left > 0; left--) this.#write()
    else if (what < 0.74) this.#confirmAll()
    else if (what < 0.82) this.#retract()
    else if (what < 0.86) this.#sync()
    else if (what < 0.9) this.#send({ type: 'typing', ...random.pick(this.#parts.friends) })
    else if (what < 0.95) this.disconnect(random.pick([0, 5, 100, 2000]))
    else this.takeOver()
  }

  /** Closes its connection and comes back. */
  disconnect(backAfterMs: number): void {
    this.#link?.line.close()
    this.#lose(this.#link, backAfterMs)
  }

  /** Its connection is lost. */
  cut(isTold: boolean): void {
    this.#link?.line.cut(isTold)
  }

  /** Connects again while the last connection is still open: the same device, or another one. */
  takeOver(): void {
    if (this.#parts.random.chance(0.5)) this.#token = this.#parts.issueToken()
    this.#lose(this.#link, 0)
  }

  /** From now on it writes nothing new, and confirms everything. */
  quieten(): void {
    this.#isQuiet = true
    this.#confirmAll()
    this.#tick()
  }

  #tick(): void {
    this.#parts.schedule.after(900, this.owner, 'tick', () => {
      this.#tick()
      this.#confirmAll()
    })
  }

  /** Pings, sends again what was refused, and gives up on connections that are silent. */
  #beat(): void {
    const { schedule } = this.#parts
    schedule.after(PING_EVERY_MS, this.owner, 'beat', () => {
      this.#beat()
      const link = this.#link
      if (!link) return
      if (schedule.now - link.heardAt > GIVE_UP_MS) {
        this.disconnect(0)
        return
      }
      this.#send({ type: 'ping' })
      this.#sendRefused()
    })
  }

  #write(): void {
    if (this.#outbox.length >= MOST_UNANSWERED) return
    const { random, number, friends } = this.#parts
    this.#ids += 1
    const id = `c${number}-m${this.#ids}`
    const payload = Buffer.from(id.padEnd(random.pick([6, 20, 90, 300]), id)).toString('base64')
    const frame = { type: 'msg', id, ...random.pick(friends), crypto_v: 1, payload }
    this.#sent.push(frame)
    // Sometimes a retraction is sent before its message.
    if (random.chance(0.01)) this.#queue({ ...withoutPayload(frame), type: 'retract' })
    this.#queue(frame)
  }

  #retract(): void {
    const last = this.#sent.at(-this.#parts.random.whole(1, 4))
    if (!last || this.#outbox.some(({ frame }) => frame.type === 'retract' && frame.id === last.id)) return
    this.#queue({ ...withoutPayload(last), type: 'retract' })
  }

  #queue(frame: Frame): void {
    this.#outbox.push({ frame, againAt: undefined })
    this.#send(frame)
  }

  #send(frame: Frame): void {
    const link = this.#link
    if (!link?.isOpen) return
    const { events, number: client } = this.#parts
    if (frame.type !== 'ping')
      events.push({ type: 'sent', client, connection: link.connection, frame: recordable(frame) })
    link.line.send(JSON.stringify(frame))
  }

  #sendRefused(): void {
    for (const outgoing of this.#outbox) {
      if (outgoing.againAt === undefined || outgoing.againAt > this.#parts.schedule.now) continue
      outgoing.againAt = undefined
      this.#send(outgoing.frame)
    }
  }

  #confirmAll(): void {
    for (const [conv, shelf] of this.#shelves) this.#confirm(conv, shelf)
  }

  #confirm(conv_id: string, shelf: Shelf): void {
    const { friends, random } = this.#parts
    const to = friends.find((friend) => friend.conv_id === conv_id)?.to
    if (to === undefined || !this.#link?.isOpen) return
    const seq = shelf.received
    if (shelf.delivered < seq && !this.#confirmsByRead) this.#send({ type: 'delivered', conv_id, seq, to })
    shelf.delivered = Math.max(shelf.delivered, seq)
    if (shelf.read === seq || !(this.#confirmsByRead || this.#isQuiet || random.chance(0.3))) return
    this.#send({ type: 'read', conv_id, seq, to })
    shelf.read = seq
  }

  #connectIn(ms: number): void {
    if (this.#isWaitingToConnect) return
    this.#isWaitingToConnect = true
    this.#parts.schedule.after(ms, this.owner, 'connects', () => {
      this.#isWaitingToConnect = false
      this.#connect()
    })
  }

  #connect(): void {
    const { findNode, schedule, weather, events, number: client, nextConnection, opened } = this.#parts
    const node = findNode()
    if (!node) {
      this.#connectIn(500)
      return
    }
    const connection = nextConnection()
    events.push({ type: 'opening', client, connection })
    const line: Line = new Line({
      ...{ schedule, weather, node, client: this.owner, token: this.#token },
      events: {
        onOpen: () => {
          link.isOpen = true
          if (this.#link === link) this.#begin()
        },
        onFrame: (text) => this.#received(JSON.parse(text), link),
        onClosed: () => {
          events.push({ type: 'closed', client, connection })
          this.#lose(link, this.#parts.random.between(0, 100))
        },
      },
    })
    const link: Link = { line, connection, isOpen: false, heardAt: schedule.now }
    this.#link = link
    opened(line)
  }

  #begin(): void {
    // These marks may never have arrived, so the client repeats them.
    for (const shelf of this.#shelves.values()) Object.assign(shelf, { delivered: 0, read: 0 })
    if (this.#isQuiet || this.#parts.random.chance(0.7)) this.#sync()
    const waiting = this.#outbox.map(({ frame }) => frame)
    const again =
      this.#sendsAllAgain && !this.#isQuiet ? this.#sent.filter((sent) => !waiting.includes(sent)) : []
    for (const frame of [...again, ...waiting]) this.#send(frame)
  }

  #sync(): void {
    this.#send(this.#sendsAllAgain ? { type: 'sync', crypto_v: 1 } : { type: 'sync', receipts: 'by_seq' })
  }

  #lose(link: Link | undefined, backMs: number): void {
    if (this.#link !== link) return
    this.#link = undefined
    this.#connectIn(backMs)
  }

  #received(frame: Frame, link: Link): void {
    const { events, number: client, schedule, random } = this.#parts
    // Its client has a newer connection.
    if (link !== this.#link) return
    link.heardAt = schedule.now
    if (frame.type !== 'pong')
      events.push({ type: 'received', client, connection: link.connection, frame: recordable(frame) })
    const { type, id, conv_id = '', seq = 0 } = frame
    if (type === 'goaway') this.#token = this.#parts.issueToken()
    else if (type === 'ack') this.#answered('msg', id)
    else if (type === 'retract_ack') this.#answered('retract', id)
    else if (type === 'error') this.#refused(id)
    else if (type === 'msg') {
      const shelf = this.#shelves.get(conv_id) ?? { received: 0, delivered: 0, read: 0 }
      this.#shelves.set(conv_id, shelf)
      shelf.received = Math.max(shelf.received, seq)
      // A repeated message was certainly not confirmed.
      shelf.delivered = Math.min(shelf.delivered, seq - 1)
      if (random.chance(0.4)) this.#confirm(conv_id, shelf)
    }
  }

  #answered(type: string, id: string | undefined): void {
    this.#outbox = this.#outbox.filter(({ frame }) => frame.type !== type || frame.id !== id)
  }

  #refused(id: string | undefined): void {
    const againAt = this.#parts.schedule.now + AGAIN_MS
    if (id === undefined) for (const shelf of this.#shelves.values()) shelf.delivered = shelf.read = 0
    for (const outgoing of this.#outbox) if (outgoing.frame.id === id) outgoing.againAt = againAt
  }
}

function withoutPayload({ id, to, conv_id }: Frame): Omit<Frame, 'type'> {
  return { id, to, conv_id } as Omit<Frame, 'type'>
}
