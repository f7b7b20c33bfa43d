// What a group of accounts must see of each other: a small model of the promises of docs/protocol.md,
// "Delivery". It reads every frame that is sent and received.
import { decodeClientFrame, decodeRelayFrame, type RelayFrameOf } from '@sotto/protocol'
import { INTERNALS } from './http.ts'
import { Finding } from './inputs.ts'
import type { Line } from './line.ts'

/** A message id of one sender in one conversation. */
interface Sent {
  readonly name: string
  readonly to: number
  readonly conv: string
  /** A repeat may have another payload; the relay keeps the first one that it accepts. */
  readonly payloads: Set<string>
  seq: number | undefined
  /** Whether it may be erased before that: it was retracted, or the friendship ended. */
  mayBeGone: boolean
}

const MEMBER_FRAMES = new Set(['msg', 'retract', 'delivered', 'read', 'typing'])

export class ExchangeModel {
  readonly #numbers: ReadonlyMap<string, number>
  /** The two members of each conversation. */
  readonly #members = new Map<string, readonly [number, number]>()
  readonly #sent = new Map<string, Sent>()
  readonly #retracted = new Set<string>()
  readonly #owners = new Map<string, string>()
  /** The number and the conversation of each message. */
  readonly #places = new Map<string, string>()
  /** The highest number of each conversation that anybody saw. */
  readonly #highest = new Map<string, number>()
  /** How far each account has confirmed each conversation, be it right or wrong. */
  readonly #confirmed = new Map<string, number>()
  readonly #calls = new Set<string>()

  /** @param aliases of the accounts, in the order of their numbers */
  constructor(aliases: readonly string[]) {
    this.#numbers = new Map(aliases.map((alias, number) => [alias, number]))
  }

  addConversation(conv: string, members: readonly [number, number]): void {
    this.#members.set(conv, members)
  }

  /** The highest number that anybody saw in a conversation. */
  highestIn(conv: string): number {
    return this.#highest.get(conv) ?? 0
  }

  /** A frame leaves an account. */
  sends(from: number, text: string, line: Line): void {
    const { frame } = decodeClientFrame(text)
    switch (frame?.type) {
      case 'sync':
        line.syncs += 1
        return
      case 'msg': {
        const key = `${from} ${frame.id} ${frame.conv_id}`
        const sent = this.#sent.get(key)
        if (sent) sent.payloads.add(frame.payload)
        else this.#add(key, frame.conv_id, from, frame.payload)
        return
      }
      case 'retract':
        this.#retracted.add(`${from} ${frame.id}`)
        return
      case 'delivered':
      case 'read': {
        const key = `${from} ${frame.conv_id}`
        // The relay refuses a number that does not exist yet. It may exist when the frame arrives.
        const isPossible = frame.seq <= this.highestIn(frame.conv_id) + 100
        if (isPossible) this.#confirmed.set(key, Math.max(frame.seq, this.#confirmed.get(key) ?? 0))
        return
      }
      default:
        if (frame && 'call_id' in frame) this.#calls.add(`${frame.type} ${frame.call_id} ${frame.payload}`)
    }
  }

  #add(key: string, conv: string, from: number, payload: string): void {
    const members = this.#members.get(conv)
    const to = members?.find((member) => member !== from)
    if (to === undefined || !members?.includes(from)) return // The relay must refuse it.
    const mayBeGone = false
    this.#sent.set(key, {
      name: key.slice(0, key.lastIndexOf(' ')),
      to,
      conv,
      payloads: new Set([payload]),
      seq: undefined,
      mayBeGone,
    })
  }

  /** The friendship of two accounts ends, or has just ended. */
  parts(one: number, other: number): void {
    for (const [key, sent] of this.#sent) {
      const from = Number(key.split(' ', 1))
      if ((from === one && sent.to === other) || (from === other && sent.to === one)) sent.mayBeGone = true
    }
  }

  /** A frame reaches an account. @throws Finding */
  receives(at: number, text: string, line: Line): void {
    const { frame, fault } = decodeRelayFrame(text)
    if (fault) throw new Finding(`a frame that no client knows (${JSON.stringify(fault)}): ${text}`)
    if (frame.type === 'error' && (frame.error === 'INTERNAL' || INTERNALS.test(frame.message)))
      throw new Finding(`an error that no client can cause, or that reveals internals: ${text}`)
    const members = 'conv_id' in frame ? this.#members.get(frame.conv_id ?? '') : undefined
    if (MEMBER_FRAMES.has(frame.type) && !members?.includes(at))
      throw new Finding(`account ${at} got a frame of a conversation that is not its own: ${text}`)
    if (frame.type === 'ack') this.#acknowledged(at, frame)
    else if (frame.type === 'msg') this.#delivered(at, frame, line)
    else if (frame.type === 'retract') {
      const name = `${this.#numbers.get(frame.from)} ${frame.id}`
      this.#owns(frame.conv_id, frame.seq, `retraction of ${name}`)
      if (!this.#retracted.has(name)) throw new Finding(`nobody retracted this: ${text}`)
    } else if ('call_id' in frame && frame.type !== 'error') {
      if (!this.#calls.has(`${frame.type} ${frame.call_id} ${frame.payload}`))
        throw new Finding(`nobody sent this call frame: ${text}`)
    }
  }

  #acknowledged(at: number, { id, conv_id, seq }: RelayFrameOf<'ack'>): void {
    const sent = this.#sent.get(`${at} ${id} ${conv_id}`)
    if (!sent) throw new Finding(`account ${at} got an ack of no message of its own: ${id}`)
    // A message that was retracted before it was stored has the number of its retraction.
    if (!this.#retracted.has(sent.name)) this.#numbered(sent, seq)
  }

  #delivered(at: number, { id, conv_id, seq, from, to, payload }: RelayFrameOf<'msg'>, line: Line): void {
    const key = `${this.#numbers.get(from)} ${id} ${conv_id}`
    const sent = this.#sent.get(key)
    if (sent?.to !== at || this.#numbers.get(to) !== at || !sent.payloads.has(payload))
      throw new Finding(`account ${at} got a message that nobody sent to it: ${key}`)
    this.#numbered(sent, seq)
    line.received.add(sent.name)
    const height = line.heights.get(conv_id) ?? 0
    // Each further sync repeats what is not confirmed, in every conversation.
    if (seq <= height) line.setbacks += 1
    if (seq <= height && line.setbacks > line.syncs * this.#members.size)
      throw new Finding(`account ${at} got ${seq} after ${height} in ${conv_id}`)
    line.heights.set(conv_id, seq)
  }

  /** A message has one number, and its id is in one conversation. */
  #numbered(sent: Sent, seq: number): void {
    this.#owns(sent.conv, seq, sent.name)
    const known = this.#places.get(sent.name) ?? `${seq} of ${sent.conv}`
    if (known !== `${seq} of ${sent.conv}`)
      throw new Finding(`${sent.name} is ${seq} of ${sent.conv} and ${known}`)
    this.#places.set(sent.name, known)
    sent.seq = seq
  }

  /** Each number of a conversation belongs to one message or retraction. */
  #owns(conv: string, seq: number, owner: string): void {
    const known = this.#owners.get(`${conv} ${seq}`)
    if (known !== undefined && known !== owner)
      throw new Finding(`${owner} and ${known} are both ${seq} in ${conv}`)
    this.#owners.set(`${conv} ${seq}`, owner)
    this.#highest.set(conv, Math.max(seq, this.highestIn(conv)))
  }

  /**
   * A new connection got every message to its account that was acknowledged and is not confirmed, unless it
   * may be gone. @throws Finding
   */
  expectAllKept(at: number, line: Line): void {
    for (const { name, to, conv, seq, mayBeGone } of this.#sent.values()) {
      if (to !== at || seq === undefined || mayBeGone || this.#retracted.has(name)) continue
      const isConfirmed = seq <= (this.#confirmed.get(`${at} ${conv}`) ?? 0)
      if (!isConfirmed && !line.received.has(name))
        throw new Finding(`account ${at} did not get message ${name}, which is ${seq} of ${conv}`)
    }
  }
}
