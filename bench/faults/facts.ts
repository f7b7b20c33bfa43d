// Facts collected while a history is read, for the checker: messages, lanes, connections and friendships.
import type { Errand, Frame, HistoryEvent, Member } from './history.ts'
import { Pair } from './pair.ts'
import type { Change } from './switch.ts'

/** The ways to break the promises of docs/protocol.md, "Delivery". */
export type ViolationKind =
  | 'lost' // acknowledged but neither delivered nor retracted
  | 'twice' // delivered again after its confirmation, or under a second number
  | 'order' // not in rising seq, or a skipped message came later
  | 'gap' // a number without a message
  | 'changed' // not the sent content, or another answer to a repeat
  | 'time' // `at` decreased
  | 'receipt' // a mark that never arrived
  | 'untrue' // a mark that an older client takes for a message that it does not cover
  | 'retraction' // a retraction that never arrived, or a message shown after it
  | 'unanswered' // a frame without an answer, after enough time
  | 'refused' // a valid frame or request was refused
  | 'parted' // stored between accounts that were not friends, or shown after it was erased
  | 'friends' // an impossible answer about friendship, or a request that passed a block
  | 'expiry' // a message that expired too early, or whose sender was not told
  | 'foreign' // delivered to the wrong client, or never sent
  | 'dead' // the relay did not start again

export interface Violation {
  readonly kind: ViolationKind
  readonly what: string
  /** The event at which it was found. */
  readonly n: number
}

/** A message, identified by its sender and id. */
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
  /** The connection of the first `ack`. */
  ackedOn: number | undefined
  receivedAt: number | undefined
  /** Whether it was refused for a while, or may have been without its sender knowing. */
  wasRefused: boolean
  /** The message or its retraction was refused permanently, so the client drops both. */
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
  /**
   * The highest marks sent by its recipient, when each was first sent, and the highest marks told to its
   * sender.
   */
  sentDelivered: number
  sentDeliveredAt: number
  sentRead: number
  sentReadAt: number
  toldDelivered: number
  toldRead: number
  /** The highest number of an acknowledged message of its sender. */
  highestAcked: number
  /** Up to this number, the relay has certainly committed the confirmation. */
  confirmed: number
  /** The highest number received for the first time. */
  highestNew: number
  hasTyped: boolean
}

/** An HTTP request until its answer. */
export interface CommandFact {
  readonly client: number
  readonly what: Errand
  readonly began: number
  /** What had no answer by then has taken effect by now, or never will. */
  readonly settledAt: number
  readonly pair: Pair | undefined
  /** The switches it changes if it takes effect. */
  readonly changes: readonly { readonly change: Change; readonly drop: () => void }[]
}

/** The moment from which the relay may erase messages older than `before`. */
export interface AgeFact {
  readonly n: number
  readonly before: number
  /** The numbers of each lane that were certainly confirmed by then, and so erased. */
  readonly confirmed: ReadonlyMap<Lane, number>
}

export interface ConnectionFact {
  readonly client: number
  readonly node: number
  readonly openedAt: number
  /** The numbers of each lane that were certainly confirmed when the connection opened. */
  readonly confirmed: ReadonlyMap<Lane, number>
  readonly lastSeq: Map<string, number>
  /** Frames received since the last `sync`, by conversation and number. */
  readonly seen: Set<string>
  /** When each message, or its retraction, was first sent on it. */
  readonly firstSent: Map<string, number>
  readonly marks: { readonly lane: Lane; readonly seq: number }[]
  marksKnown: number
  syncs: number
  restarts: number
  hadError: boolean
  /** Whether the client said that it reads the `seq` of marks. */
  isBySeq: boolean
}

/** A frame of the history, with the connection it went over. */
export interface FrameEvent {
  readonly client: number
  readonly connection: number
  readonly on: ConnectionFact
  readonly frame: Frame
  readonly n: number
}

type Opening = Extract<HistoryEvent, { type: 'opening' }>

/** All collected facts. */
export class Facts {
  /** Pairs by their conversation, as far as it is known. */
  readonly conversations = new Map<string, Pair>()
  readonly messages = new Map<string, MessageFact>()
  readonly connections = new Map<number, ConnectionFact>()
  readonly violations: Violation[] = []
  readonly commands = new Map<number, CommandFact>()
  readonly ages: AgeFact[] = []
  /** Clients that said `sync` without `receipts`. */
  readonly older = new Set<number>()
  /** Clients that have deleted their account, or may have. */
  readonly gone = new Set<number>()
  readonly #lanes = new Map<string, Lane>()
  readonly #pairs = new Map<string, Pair>()
  readonly #owners = new Map<string, number>()
  /** Whether the disk is full or the database is down, so that INTERNAL and RELAY_FULL are allowed. */
  mayFail = false
  /** The nodes that may refuse messages because of that, and when the latest failure of each ended. */
  readonly failing = new Map<number, number | undefined>()
  /**
   * With several nodes: the last event by which everything without an answer had taken effect. What a killed
   * node had asked of the database may happen after another node has answered.
   */
  settledAt: number | undefined

  report(kind: ViolationKind, n: number, what: string): void {
    this.violations.push({ kind, n, what })
  }

  get lanes(): IterableIterator<Lane> {
    return this.#lanes.values()
  }

  addAccount(alias: string, client: number): void {
    this.#owners.set(alias, client)
  }

  /** Adds two clients that are friends from the start. */
  befriend(conv: string, members: readonly [Member, Member], n: number): void {
    for (const { alias, client } of members) this.addAccount(alias, client)
    const pair = new Pair(members, true, n)
    this.#pairs.set(keyOf(members), pair)
    this.#converse(pair, conv)
  }

  /** The pair of a client and the account with this alias. */
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

  /** A client learned a pair's conversation, which must never change (Delivery 9). */
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
        highestAcked: 0,
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

  open({ connection, client, node = 0 }: Opening, n: number): void {
    const confirmed = new Map<Lane, number>()
    for (const lane of this.lanes) if (lane.recipient === client) confirmed.set(lane, lane.confirmed)
    this.connections.set(connection, {
      client,
      node,
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
      isBySeq: false,
    })
  }

  laneTo(conv: string, recipient: number): Lane | undefined {
    return this.#lanes.get(`${conv} ${recipient}`)
  }

  /** The pair of a conversation, from one side. */
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
      ackedOn: undefined,
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
