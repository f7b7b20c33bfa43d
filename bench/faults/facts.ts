// What a history says, gathered while it is read: messages, lanes and connections, as the checker needs them.
import type { Member } from './history.ts'

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
  | 'refused' // a rightful frame refused
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
  retractSentAt: number | undefined
  retractAckedAt: number | undefined
  retractReceivedAt: number | undefined
}

/** One direction of a conversation. */
export interface Lane {
  readonly conv: string
  readonly sender: number
  readonly recipient: number
  /** The highest marks its recipient sent, and the highest its sender was told of. */
  sentDelivered: number
  sentRead: number
  toldDelivered: number
  toldRead: number
  /** Up to here it is certain that the relay has committed the confirmation. */
  confirmed: number
  /** The highest number that was received for the first time. */
  highestNew: number
  hasTyped: boolean
}

export interface ConversationFact {
  readonly conv: string
  readonly members: readonly [Member, Member]
  /** Who has which number, and its time. */
  readonly numbers: Map<number, { owner: string; at: number }>
}

export interface ConnectionFact {
  readonly client: number
  readonly openedAt: number
  /** What of each lane was certainly confirmed when it was opened. */
  readonly confirmed: ReadonlyMap<Lane, number>
  readonly lastSeq: Map<string, number>
  /** Frames received in the round under way, by conversation and number. */
  readonly seen: Set<string>
  readonly marks: { readonly lane: Lane; readonly seq: number }[]
  marksKnown: number
  syncs: number
  restarts: number
  hadError: boolean
}

/** Everything that was gathered. */
export class Facts {
  readonly conversations = new Map<string, ConversationFact>()
  readonly messages = new Map<string, MessageFact>()
  readonly connections = new Map<number, ConnectionFact>()
  readonly violations: Violation[] = []
  readonly #lanes = new Map<string, Lane>()
  /** A full disk or a database that is away: then a frame may be refused with INTERNAL. */
  mayFail = false

  report(kind: ViolationKind, n: number, what: string): void {
    this.violations.push({ kind, n, what })
  }

  get lanes(): IterableIterator<Lane> {
    return this.#lanes.values()
  }

  befriend(conv: string, members: readonly [Member, Member]): void {
    this.conversations.set(conv, { conv, members, numbers: new Map() })
    const [{ client: low }, { client: high }] = members
    for (const [sender, recipient] of [
      [low, high],
      [high, low],
    ] as const) {
      this.#lanes.set(`${conv} ${recipient}`, {
        conv,
        sender,
        recipient,
        sentDelivered: 0,
        sentRead: 0,
        toldDelivered: 0,
        toldRead: 0,
        confirmed: 0,
        highestNew: 0,
        hasTyped: false,
      })
    }
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
      retractSentAt: undefined,
      retractAckedAt: undefined,
      retractReceivedAt: undefined,
    }
    this.messages.set(`${sender} ${id}`, message)
    return message
  }
}
