// What a history says, gathered while it is read: messages, lanes, connections, and who knows whom, as the checker
// needs them.
import type { Errand, Member } from './history.ts'
import { Pair } from './pair.ts'
import type { Change } from './switch.ts'

/** What the promises of docs/protocol.md, "Delivery", can be broken in. */
export type ViolationKind =
  | 'lost' // acknowledged, and neither delivered nor retracted
  | 'twice' // delivered again after it was confirmed, or under a second number
  | 'order' // not in rising seq, or something was left out and came later
  | 'gap' // a number that belongs to nothing
  | 'changed' // not what was sent, or another answer to a repeat
  | 'time' // `at` fell
  | 'receipt' // a mark that never arrived
  | 'retraction' // one that never arrived, or a message shown after it
  | 'unanswered' // a frame that nobody answered in all the time there was
  | 'refused' // a rightful frame or request refused
  | 'parted' // stored between two that were no friends, or shown after it was erased
  | 'friends' // an answer about friendship that cannot be, or a request that reached somebody who blocks
  | 'expiry' // a message that ended before its time, or whose sender was not told
  | 'foreign' // delivered to somebody it was not for, or never sent
  | 'dead' // the relay did not come up again

export interface Violation {
  readonly kind: ViolationKind
  readonly what: string
  /** The event it was found at. */
  readonly n: number
}

/** A message, known by its sender and id. */
export interface MessageFact {
  readonly sender: number
  readonly id: string
  readonly conv: string
  readonly recipient: number
  digest: string | undefined
  /** When it was first sent, on which connection, and how many marks that connection had sent before. */
  sentAt: number | undefined
  sentOn: number
  marksBefore: number
  seq: number | undefined
  at: number | undefined
  ackedAt: number | undefined
  receivedAt: number | undefined
  wasRefused: boolean
  /** Refused for good, it or its retraction: the client lets go of both. */
  refusedAt: number | undefined
  expiredAt: number | undefined
  retractSentAt: number | undefined
  retractAckedAt: number | undefined
  retractReceivedAt: number | undefined
}

/** One direction of a conversation. */
export interface Lane {
  readonly conv: string
  readonly sender: number
  readonly recipient: number
  /** The highest marks its recipient sent, when it first did, and the highest its sender was told of. */
  sentDelivered: number
  sentDeliveredAt: number
  sentRead: number
  sentReadAt: number
  toldDelivered: number
  toldRead: number
  /** Up to here it is certain that the relay has committed the confirmation. */
  confirmed: number
  /** The highest number that was received for the first time. */
  highestNew: number
  hasTyped: boolean
}

/** A request over HTTP, until it is answered. */
export interface CommandFact {
  readonly client: number
  readonly what: Errand
  readonly began: number
  readonly pair: Pair | undefined
  /** What it changes if it takes effect, and in which switch. */
  readonly changes: readonly { readonly change: Change; readonly drop: () => void }[]
}

/** A moment from which on the relay may erase what is older than `before`. */
export interface AgeFact {
  readonly n: number
  readonly before: number
  /** What of each lane was certainly confirmed by then, and so erased. */
  readonly confirmed: ReadonlyMap<Lane, number>
}

export interface ConnectionFact {
  readonly client: number
  readonly openedAt: number
  /** What of each lane was certainly confirmed when it was opened. */
  readonly confirmed: ReadonlyMap<Lane, number>
  readonly lastSeq: Map<string, number>
  /** Frames received in the round under way, by conversation and number. */
  readonly seen: Set<string>
  /** When each message, or its retraction, was first sent on it. */
  readonly firstSent: Map<string, number>
  readonly marks: { readonly lane: Lane; readonly seq: number }[]
  marksKnown: number
  syncs: number
  restarts: number
  hadError: boolean
}

/** Everything that was gathered. */
export class Facts {
  /** By their conversation, as far as that is known. */
  readonly conversations = new Map<string, Pair>()
  readonly messages = new Map<string, MessageFact>()
  readonly connections = new Map<number, ConnectionFact>()
  readonly violations: Violation[] = []
  readonly commands = new Map<number, CommandFact>()
  readonly ages: AgeFact[] = []
  /** Who has deleted its account, or may have. */
  readonly gone = new Set<number>()
  readonly #lanes = new Map<string, Lane>()
  readonly #pairs = new Map<string, Pair>()
  readonly #owners = new Map<string, number>()
  /** A full disk or a database that is away: then a frame may be refused with INTERNAL. */
  mayFail = false

  report(kind: ViolationKind, n: number, what: string): void {
    this.violations.push({ kind, n, what })
  }

  get lanes(): IterableIterator<Lane> {
    return this.#lanes.values()
  }

  addAccount(alias: string, client: number): void {
    this.#owners.set(alias, client)
  }

  /** Two that are friends from the start. */
  befriend(conv: string, members: readonly [Member, Member], n: number): void {
    for (const { alias, client } of members) this.addAccount(alias, client)
    const pair = new Pair(members, true, n)
    this.#pairs.set(keyOf(members), pair)
    this.#converse(pair, conv)
  }

  /** A client and whoever has this alias. */
  pairOf(client: number, alias: string): Pair | undefined {
    const peer = this.#owners.get(alias)
    const own = [...this.#owners].find(([, owner]) => owner === client)?.[0]
    if (peer === undefined || own === undefined) return undefined
    const members = [
      { client, alias: own },
      { client: peer, alias },
    ] as const
    const key = keyOf(members)
    const known = this.#pairs.get(key) ?? new Pair(members, false, 0)
    this.#pairs.set(key, known)
    return known
  }

  pairsOf(client: number): Pair[] {
    return [...this.#pairs.values()].filter(({ members }) => members.some((each) => each.client === client))
  }

  /** Somebody was told of a pair's conversation: the same one for good (Delivery 9). */
  learn(pair: Pair, conv: string, n: number): void {
    if (pair.conv === conv) return
    if (pair.conv !== undefined || this.conversations.has(conv))
      this.report('friends', n, `${conv}: another conversation than ${pair.conv}, or somebody else's`)
    else this.#converse(pair, conv)
  }

  #converse(pair: Pair, conv: string): void {
    pair.conv = conv
    this.conversations.set(conv, pair)
    const [{ client: low }, { client: high }] = pair.members
    for (const [sender, recipient] of [
      [low, high],
      [high, low],
    ] as const) {
      this.#lanes.set(`${conv} ${recipient}`, {
        conv,
        sender,
        recipient,
        sentDelivered: 0,
        sentDeliveredAt: 0,
        sentRead: 0,
        sentReadAt: 0,
        toldDelivered: 0,
        toldRead: 0,
        confirmed: 0,
        highestNew: 0,
        hasTyped: false,
      })
    }
  }

  age(before: number, n: number): void {
    const confirmed = new Map([...this.lanes].map((lane) => [lane, lane.confirmed]))
    this.ages.push({ n, before, confirmed })
  }

  open(connection: number, client: number, n: number): void {
    const confirmed = new Map<Lane, number>()
    for (const lane of this.lanes) if (lane.recipient === client) confirmed.set(lane, lane.confirmed)
    this.connections.set(connection, {
      client,
      openedAt: n,
      confirmed,
      lastSeq: new Map(),
      seen: new Set(),
      firstSent: new Map(),
      marks: [],
      marksKnown: 0,
      syncs: 0,
      restarts: 0,
      hadError: false,
    })
  }

  laneTo(conv: string, recipient: number): Lane | undefined {
    return this.#lanes.get(`${conv} ${recipient}`)
  }

  /** The two of a conversation as one of them sees it. */
  sides(conv: string, client: number): { own: Member; peer: Member } | undefined {
    const [low, high] = this.conversations.get(conv)?.members ?? []
    if (low?.client === client && high) return { own: low, peer: high }
    if (high?.client === client && low) return { own: high, peer: low }
    return undefined
  }

  find(sender: number, id: string): MessageFact | undefined {
    return this.messages.get(`${sender} ${id}`)
  }

  add(sender: number, id: string, conv: string, recipient: number): MessageFact {
    const message: MessageFact = {
      sender,
      id,
      conv,
      recipient,
      digest: undefined,
      sentAt: undefined,
      sentOn: 0,
      marksBefore: 0,
      seq: undefined,
      at: undefined,
      ackedAt: undefined,
      receivedAt: undefined,
      wasRefused: false,
      refusedAt: undefined,
      expiredAt: undefined,
      retractSentAt: undefined,
      retractAckedAt: undefined,
      retractReceivedAt: undefined,
    }
    this.messages.set(`${sender} ${id}`, message)
    return message
  }
}

function keyOf(members: readonly [Member, Member]): string {
  return members
    .map(({ client }) => client)
    .sort((a, b) => a - b)
    .join(' ')
}
