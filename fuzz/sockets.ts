// The part that attacks the WebSocket: sequences of frames of several accounts, valid and broken ones, with
// quarrels, reconnects and closes in between. A model checks what arrives.
import { requestOf, UPGRADE } from '../packages/relay/test/raw.ts'
import { befriend, type WireAccount, wireAccount } from '../packages/relay/test/wire.ts'
import { ExchangeModel } from './exchange-model.ts'
import { sendBytes } from './http.ts'
import { type Draws, Finding, type Inputs } from './inputs.ts'
import { Line } from './line.ts'
import type { Part } from './part.ts'
import { attackRelay } from './target.ts'
import { anyBytes, anyText, anyValue, heavyJson, mutated } from './values.ts'

const LANES = 4
const ACCOUNTS = 4
/** Neighbours are friends at first, and the first and the last are strangers. */
const FRIENDS = [
  [0, 1],
  [1, 2],
  [2, 3],
] as const
const MOST_STEPS = 400
const CALLS = ['call_offer', 'call_answer', 'call_reject', 'call_ice', 'call_hangup'] as const

export const sockets: Part = {
  name: 'sockets',
  means: 'sequences of frames over several WebSockets, checked by a model of delivery',
  share: 5,
  run: (inputs, engine) =>
    attackRelay(inputs, { engine }, ({ url }) =>
      inputs.inLanes(LANES, async (index, draws) => {
        const sequence = new Sequence(index, draws, inputs)
        await sequence.begin(url)
        await sequence.play()
      }),
    ),
}

/** One group of accounts and what it does. */
class Sequence {
  readonly #index: number
  readonly #draws: Draws
  readonly #inputs: Inputs
  readonly #accounts: WireAccount[] = []
  readonly #lines: (Line | undefined)[] = []
  readonly #conversations: { readonly conv: string; readonly members: readonly [number, number] }[] = []
  #model = new ExchangeModel([])
  #finding: unknown
  #ids = 0
  #ticket = 'none'

  constructor(index: number, draws: Draws, inputs: Inputs) {
    this.#index = index
    this.#draws = draws
    this.#inputs = inputs
  }

  async begin(url: string): Promise<void> {
    const made = await Promise.all(Array.from({ length: ACCOUNTS }, () => wireAccount(url)))
    this.#accounts.push(...made)
    this.#model = new ExchangeModel(made.map(({ alias }) => alias))
    for (const pair of FRIENDS) await this.#befriend(pair)
  }

  async #befriend(members: readonly [number, number]): Promise<void> {
    const [one, other] = members
    const conv: string | undefined = await befriend(this.#account(one), this.#account(other))
    if (conv === undefined || this.#conversations.some((known) => known.conv === conv)) return
    this.#conversations.push({ conv, members })
    this.#model.addConversation(conv, members)
  }

  async play(): Promise<void> {
    try {
      for (let step = this.#draws.whole(20, MOST_STEPS); step > 0 && !this.#inputs.isOver; step--) {
        await this.#step(this.#draws.whole(0, ACCOUNTS - 1))
        if (this.#finding !== undefined) break
      }
      await this.#end()
    } finally {
      for (const line of this.#lines) await line?.close()
    }
    if (this.#finding !== undefined) throw this.#finding
  }

  async #step(at: number): Promise<void> {
    const draws = this.#draws
    const dice = draws.whole(0, 99)
    if (dice < 30) await this.#send(at, JSON.stringify(this.#message(at)))
    else if (dice < 34) await this.#send(at, JSON.stringify({ ...this.#message(at), id: this.#oldId() }))
    else if (dice < 44) await this.#send(at, JSON.stringify(this.#receipt(at)))
    else if (dice < 48)
      await this.#send(at, JSON.stringify({ ...this.#message(at), type: 'retract', id: this.#oldId() }))
    else if (dice < 52) await this.#send(at, JSON.stringify({ ...this.#message(at), type: 'typing' }))
    else if (dice < 60) await this.#send(at, JSON.stringify(this.#call(at)))
    else if (dice < 68) await this.#send(at, mutated(JSON.stringify(this.#anyFrame(at)), draws))
    else if (dice < 75)
      await this.#send(at, JSON.stringify({ ...this.#anyFrame(at), ...this.#wrongFields() }))
    else if (dice < 79) await this.#send(at, draws.of(anyText))
    else if (dice < 80) await this.#send(at, draws.of(heavyJson))
    else if (dice < 82) await this.#send(at, Uint8Array.from(draws.of(anyBytes)))
    else if (dice < 83) await this.#send(at, '{"type":"sync"}')
    else if (dice < 84) await this.#send(at, '{"type":"sync","receipts":"by_seq"}')
    else if (dice < 88) await this.#lines[at]?.settled()
    else if (dice < 93) await this.#quarrel(at)
    else await this.#reconnect(at, dice)
  }

  async #send(at: number, data: string | Uint8Array<ArrayBuffer>): Promise<void> {
    const line = await this.#lineOf(at)
    if (!line) return
    const text = typeof data === 'string' ? data : `bytes ${Buffer.from(data).toString('hex')}`
    this.#inputs.sending(this.#index, `${at}: ${text}`)
    // What the socket sends has no lone surrogates.
    if (typeof data === 'string') this.#model.sends(at, data.toWellFormed(), line)
    line.send(data)
  }

  async #lineOf(at: number): Promise<Line | undefined> {
    const line = this.#lines[at]
    return line && !line.isClosed ? line : await this.#open(at)
  }

  async #open(at: number): Promise<Line | undefined> {
    const account = this.#account(at)
    this.#ticket = await account.ticket()
    const line = await Line.open(account, this.#ticket, (text, on) => this.#heard(at, text, on))
    if (!line) throw new Finding(`account ${at} could not open a WebSocket with a new ticket`)
    this.#lines[at] = line
    return line
  }

  #heard(at: number, text: string, line: Line): void {
    try {
      this.#inputs.answered(
        /"type":"error","error":"(\w+)"/.exec(text)?.[1] ?? /^\{"type":"(\w+)"/.exec(text)?.[1] ?? 'other',
      )
      this.#model.receives(at, text, line)
    } catch (error) {
      this.#finding ??= error
    }
  }

  // Closes, terminations, newer connections, tickets used twice, and bytes that are no frames.
  async #reconnect(at: number, dice: number): Promise<void> {
    const account = this.#account(at)
    this.#inputs.sending(this.#index, `${at}: connection, ${dice}`)
    if (dice === 93) await this.#lines[at]?.close(this.#draws.whole(3000, 4999))
    else if (dice < 96) await this.#lines[at]?.close()
    else if (dice === 96) await this.#open(at)
    else if (dice === 97) {
      const again = await Line.open(account, this.#ticket, () => undefined)
      if (again) throw new Finding('a ticket opened two WebSockets')
    } else if (dice === 98) {
      await account.bare('POST', '/auth/logout-all')
      await account.login()
    } else {
      const path = `/ws?user_uuid=${account.uuid}&ticket=${await account.ticket()}`
      const bytes = [Buffer.from(requestOf(`GET ${path}`, UPGRADE)), this.#draws.of(anyBytes)]
      await sendBytes({ port: Number(new URL(account.base).port) }, Buffer.concat(bytes), false)
    }
  }

  // Requests between two accounts that begin or end a friendship.
  async #quarrel(at: number): Promise<void> {
    const draws = this.#draws
    const other = (at + draws.whole(1, ACCOUNTS - 1)) % ACCOUNTS
    const [account, { alias }] = [this.#account(at), this.#account(other)]
    const how = draws.whole(0, 9)
    this.#inputs.sending(this.#index, `${at}: quarrel ${how} with ${other}`)
    if (how < 4) await this.#befriend([at, other])
    else if (how < 6) await account.bare('DELETE', `/blocks/${alias}`)
    else {
      this.#model.parts(at, other)
      if (how < 8) await account.bare('PUT', `/blocks/${alias}`)
      else {
        const friends: { alias_id: string; friendship_id: number }[] = (await account.get('/friends')).body
        const friend = friends.find(({ alias_id }) => alias_id === alias)
        if (friend) await account.bare('DELETE', `/friends/${friend.friendship_id}`)
      }
      this.#model.parts(at, other)
    }
  }

  /** Everybody connects again, gets what is waiting and confirms it. */
  async #end(): Promise<void> {
    for (let at = 0; at < ACCOUNTS; at++) await this.#lines[at]?.settled()
    for (let at = 0; at < ACCOUNTS; at++) await this.#lines[at]?.close()
    for (let at = 0; at < ACCOUNTS; at++) {
      const line = await this.#open(at)
      await line?.synced()
      if (line && this.#finding === undefined) this.#model.expectAllKept(at, line)
      for (const { conv } of this.#conversations) {
        const seq = this.#model.highestIn(conv)
        if (seq > 0)
          line?.send(JSON.stringify({ type: 'delivered', conv_id: conv, seq, to: this.#account(at).alias }))
      }
      await line?.settled()
    }
    for (const account of this.#accounts) await account.bare('DELETE', '/me')
  }

  #account(at: number): WireAccount {
    const account = this.#accounts[at]
    if (!account) throw new Error(`there is no account ${at}`)
    return account
  }

  /** A message to a friend in most cases, otherwise to somebody, in any conversation. */
  #message(at: number): Record<string, unknown> {
    const draws = this.#draws
    const own = this.#conversations.filter(({ members }) => members.includes(at))
    const { conv, members } = draws.pick(draws.chance(0.9) ? own : this.#conversations)
    const to = members.find((each) => each !== at) ?? 0
    this.#ids += 1
    return {
      type: 'msg',
      id: `${this.#ids}`,
      to: this.#account(draws.chance(0.95) ? to : draws.whole(0, ACCOUNTS - 1)).alias,
      conv_id: conv,
      crypto_v: 1,
      payload: Buffer.from(
        `${this.#ids} ${'x'.repeat(draws.chance(0.05) ? draws.whole(0, 20_000) : 20)}`,
      ).toString('base64'),
    }
  }

  #receipt(at: number): Record<string, unknown> {
    const draws = this.#draws
    const { to, conv_id } = this.#message(at)
    const highest = this.#lines[at]?.heights.get(`${conv_id}`) ?? 0
    const seq = draws.chance(0.8)
      ? draws.whole(1, Math.max(1, highest))
      : draws.pick([0, -1, 1, highest + 1, highest + 1000, 2 ** 53 - 1])
    return { type: draws.pick(['delivered', 'read']), conv_id, seq, to }
  }

  #call(at: number): Record<string, unknown> {
    const draws = this.#draws
    const { to, payload } = this.#message(at)
    const from = draws.chance(0.8) ? { from: this.#account(draws.chance(0.95) ? at : 0).alias } : {}
    return {
      type: draws.pick(CALLS),
      to,
      call_id: `call-${draws.whole(1, 5)}`,
      ...from,
      crypto_v: 2,
      payload,
    }
  }

  #anyFrame(at: number): Record<string, unknown> {
    return this.#draws.pick([() => this.#message(at), () => this.#receipt(at), () => this.#call(at)])()
  }

  #wrongFields(): Record<string, unknown> {
    const draws = this.#draws
    const field = (): string =>
      draws.pick([
        'type',
        'id',
        'to',
        'conv_id',
        'crypto_v',
        'payload',
        'seq',
        'from',
        'at',
        'call_id',
        '__proto__',
        'constructor',
      ])
    return Object.fromEntries([
      [field(), draws.of(anyValue)],
      ...(draws.chance(0.3) ? [[field(), draws.of(anyValue)]] : []),
    ])
  }

  #oldId(): string {
    return `${this.#draws.whole(1, Math.max(1, this.#ids + 2))}`
  }
}
