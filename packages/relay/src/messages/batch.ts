// The rules by which a group of frames changes the mailboxes. No storage and no sockets: the store passes in
// the rows and commits the changes. The answers are sent only after that commit.
import {
  type AliasId,
  type ClientFrameOf,
  type ConversationId,
  EPOCH_VERSION,
  type Limits,
  ProtocolError,
  type RelayFrame,
} from '@sotto/protocol'
import type { AddressedRing } from '../cluster/bus.ts'
import { frameRefused } from '../operations/disk-space.ts'
import type { AccountId } from '../storage/storage.ts'
import { receiptRings } from './batch-receipts.ts'
import type { BatchRows, Conversation, Lane, LaneChanges, Mailbox, MessageRow, SentId } from './batch-rows.ts'
import { checkRetractionRoom, hasMessageRoom, mailboxFull } from './room.ts'
import type { CommitCounts } from './sent-id-counts.ts'
import { encodeRow } from './stored-frames.ts'
import { afterReading, withoutSeqs, withSeq } from './unread-seqs.ts'

/** One frame to carry out, with the account that sent it. */
export type Operation = {
  readonly account: AccountId
  /** The epoch of the connection that it came by. Undefined in a relay of one process. */
  readonly epoch?: number | undefined
} & (
  | { readonly kind: 'append'; readonly frame: ClientFrameOf<'msg'> }
  | { readonly kind: 'retract'; readonly frame: ClientFrameOf<'retract'> }
  | {
      readonly kind: 'receipt'
      readonly frame: ClientFrameOf<'delivered' | 'read'>
      /** Whether the client reads `crypto_v` 3. If not, it confirms nothing from such a message on. */
      readonly readsVersion3: boolean
    }
)

/** What the sender of a frame gets, once the batch is on stable storage. */
export type Outcome =
  | Answered
  | { readonly refused: ProtocolError }
  /** A newer connection of the account has begun, so the frame has no effect. */
  | { readonly isReplaced: true }

interface Answered {
  readonly answers: readonly RelayFrame[]
  /** Set if the answer is the `ack` of a message. */
  readonly acknowledged?: Acknowledged
}

/** A message that gets its `ack`. */
export interface Acknowledged {
  readonly conversation: number
  readonly seq: number
  readonly isRepeat: boolean
  /** The recipient of a message of `crypto_v` 3 that is not delivered. */
  readonly recipient: AccountId | undefined
}

/** Everything a batch changes. */
export interface BatchWrites {
  readonly conversations: readonly Conversation[]
  /** The group infos of the conversations that had handshakes. */
  readonly groupInfos: ReadonlyMap<Conversation, string>
  readonly lanes: readonly LaneChanges[]
  readonly mailboxes: readonly Mailbox[]
  readonly newSentIds: readonly SentId[]
  readonly retractedSentIds: readonly SentId[]
}

/**
 * One batch. Call `apply` for each operation in the order of arrival, commit `writes()`, then call `finish`.
 */
export class Batch {
  readonly #rows: BatchRows
  readonly #now: number
  readonly #limits: Limits
  readonly #sentIdCounts: Pick<CommitCounts, 'count'>
  readonly #takesNew: boolean
  readonly #outcomes: Outcome[] = []
  readonly #conversations = new Set<Conversation>()
  readonly #groupInfos = new Map<Conversation, string>()
  readonly #lanes = new Map<Lane, LaneChanges>()
  /** The mailboxes that got frames, each with its last position before the batch. */
  readonly #mailboxes = new Map<Mailbox, number>()
  readonly #newSentIds = new Map<string, SentId>()
  readonly #retractedSentIds = new Set<SentId>()

  constructor(
    rows: BatchRows,
    parts: {
      now: number
      limits: Limits
      sentIdCounts: Pick<CommitCounts, 'count'>
      /** False while the disk is full: only what frees space, and repeats of known messages, are accepted. */
      takesNew: boolean
    },
  ) {
    this.#rows = rows
    this.#now = parts.now
    this.#limits = parts.limits
    this.#sentIdCounts = parts.sentIdCounts
    this.#takesNew = parts.takesNew
  }

  apply(operation: Operation): void {
    const { account, epoch } = operation
    // What a replaced connection sent must not come after what the newer one sent (protocol, Delivery 3).
    if (epoch !== undefined && this.#rows.epochOf(account) !== epoch) {
      this.#outcomes.push({ isReplaced: true })
      return
    }
    try {
      this.#outcomes.push(this.#carryOut(operation))
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error
      this.#outcomes.push({ refused: error })
    }
  }

  /**
   * The changes to commit. The store still has to subtract deleted messages from the counts of lanes and
   * mailboxes.
   */
  writes(): BatchWrites {
    return {
      conversations: [...this.#conversations],
      groupInfos: this.#groupInfos,
      lanes: [...this.#lanes.values()],
      mailboxes: [...this.#mailboxes.keys()],
      newSentIds: [...this.#newSentIds.values()],
      retractedSentIds: [...this.#retractedSentIds],
    }
  }

  /** The answers and the rings to send after the commit. */
  finish(): { outcomes: readonly Outcome[]; rings: readonly AddressedRing[] } {
    const rings = [...this.#mailboxRings(), ...receiptRings(this.#lanes.values(), this.#rows)]
    return { outcomes: this.#outcomes, rings }
  }

  #carryOut(operation: Operation): Answered {
    switch (operation.kind) {
      case 'append':
        return this.#append(operation.account, operation.frame)
      case 'retract':
        return { answers: [this.#retract(operation.account, operation.frame)] }
      case 'receipt':
        this.#receipt(operation)
        return { answers: [] }
      default:
        return operation satisfies never
    }
  }

  #append(sender: AccountId, frame: ClientFrameOf<'msg'>): Answered {
    const known = this.#sentId(sender, frame.id)
    if (known) return this.#repeat(known, sender, frame)
    const { conversation, lane } = this.#openLane(sender, frame)
    const { epoch, group_info: groupInfo } = frame
    // The conversation is locked until the commit, so of two who leave the same epoch only one gets through.
    if (epoch !== undefined && epoch !== conversation.groupEpoch)
      throw new ProtocolError('EPOCH_STALE', { epoch: conversation.groupEpoch })
    // Only the sender's own ids count. A retraction of an unknown message makes its id known as well.
    if (frame.after !== undefined && this.#sentId(sender, frame.after)?.conversation !== conversation.id)
      throw new ProtocolError('OUT_OF_ORDER')
    if (!this.#takesNew) throw frameRefused()
    const mailbox = this.#rows.mailbox(lane.recipient)
    const isHandshake = groupInfo !== undefined
    const hasRoom = hasMessageRoom(lane, mailbox, frame.payload.length, this.#limits)
    if (!hasRoom && !(isHandshake && this.#hasHandshakeRoom(conversation, lane))) throw mailboxFull()
    this.#sentIdCounts.count(sender, this.#now)

    const row = this.#nextRow(conversation, mailbox, { kind: 'message', id: frame.id })
    const message = { ...row, crypto_v: frame.crypto_v, payload: frame.payload, epoch, isHandshake }
    this.#changesOf(conversation, lane).inserts.push(message)
    lane.unreadSeqs = withSeq(lane.unreadSeqs, row.seq)
    if (frame.crypto_v === EPOCH_VERSION) lane.version3Seq = row.seq
    for (const counts of [lane, mailbox]) {
      counts.pendingCount += 1
      counts.pendingBytes += frame.payload.length
    }
    const sent: SentId = {
      sender,
      id: frame.id,
      conversation: conversation.id,
      seq: row.seq,
      at: row.at,
      isStored: true,
      isRetracted: false,
      isHandshake,
    }
    this.#rememberId(sent)
    if (isHandshake) {
      conversation.groupEpoch += 1
      this.#groupInfos.set(conversation, groupInfo)
    }
    return acknowledgement(frame, sent, { isRepeat: false, lane })
  }

  // A full mailbox still takes some handshakes, because without them nobody could go on once there is room.
  #hasHandshakeRoom(conversation: Conversation, lane: Lane): boolean {
    const added = this.#lanes.get(lane)?.inserts.filter(({ isHandshake }) => isHandshake).length ?? 0
    return this.#rows.handshakesIn(conversation, lane) + added < this.#limits.waitingHandshakes
  }

  // A repeat gets the first ack's `seq` and `at` and is not delivered again. Some clients repeat because they
  // lost the ack, others send everything again at each reconnect. On an ack, published clients set the
  // message's status back to "sent", so the marks are sent again after a repeat (protocol, Delivery 2).
  #repeat(known: SentId, sender: AccountId, frame: ClientFrameOf<'msg'>): Answered {
    const conversation = this.#rows.conversation(frame.conv_id)
    if (conversation?.id !== known.conversation) throw new ProtocolError('ID_REUSED')
    // An `ack` would say that the epoch has ended.
    if (frame.group_info !== undefined && !known.isHandshake) throw new ProtocolError('ID_REUSED')
    const lane = laneFrom(conversation, sender)
    if (lane) {
      const { before } = this.#changesOf(conversation, lane)
      lane.toldRound = before.toldRound + 1
    }
    return acknowledgement(frame, known, { isRepeat: true, lane })
  }

  #retract(sender: AccountId, frame: ClientFrameOf<'retract'>): RelayFrame {
    const answer: RelayFrame = { type: 'retract_ack', id: frame.id, conv_id: frame.conv_id }
    const { conversation, lane } = this.#openLane(sender, frame)
    const known = this.#sentId(sender, frame.id)
    if (known && known.conversation !== conversation.id) throw new ProtocolError('ID_REUSED')
    if (known?.isHandshake) throw new ProtocolError('NOT_RETRACTABLE')
    if (known?.isRetracted) return answer
    if (!known && this.#sentId(lane.recipient, frame.id)?.conversation === conversation.id) {
      throw new ProtocolError('NOT_YOUR_MESSAGE')
    }
    const mailbox = this.#rows.mailbox(lane.recipient)
    const isUndelivered = known?.isStored === true && known.seq > lane.deliveredSeq
    if (!isUndelivered && !this.#takesNew) throw frameRefused()
    if (!isUndelivered) checkRetractionRoom(lane, mailbox, this.#limits)
    if (!known) this.#sentIdCounts.count(sender, this.#now)
    const row = this.#nextRow(conversation, mailbox, { kind: 'retraction', id: frame.id })
    lane.retractionCount += 1
    mailbox.retractionCount += 1
    const work = this.#changesOf(conversation, lane)
    if (known) {
      known.isRetracted = true
      if (!this.#newSentIds.has(keyOf(known))) this.#retractedSentIds.add(known)
      work.retractedSeqs.push(known.seq)
      this.#dropInsert(work, known.seq)
      lane.unreadSeqs = withoutSeqs(lane.unreadSeqs, [known.seq])
    } else {
      // A tombstone: if the message arrives later, its id counts as used and it is not delivered.
      this.#rememberId({
        sender,
        id: frame.id,
        conversation: conversation.id,
        seq: row.seq,
        at: row.at,
        isStored: false,
        isRetracted: true,
        isHandshake: false,
      })
    }
    work.inserts.push({ ...row, crypto_v: 0, payload: '' })
    return answer
  }

  #dropInsert(work: LaneChanges, seq: number): void {
    const index = work.inserts.findIndex((row) => row.seq === seq)
    const row = work.inserts[index]
    if (!row) return
    work.inserts.splice(index, 1)
    for (const counts of [work.lane, this.#rows.mailbox(work.lane.recipient)]) {
      counts.pendingCount -= 1
      counts.pendingBytes -= row.payload.length
    }
  }

  // Only the conversation decides, also after the friendship ended. `to` is not checked, because it may be a
  // former alias.
  #receipt({ account: reader, frame, readsVersion3 }: Extract<Operation, { kind: 'receipt' }>): void {
    const conversation = this.#rows.conversation(frame.conv_id)
    const lane = conversation?.lanes.find((candidate) => candidate.recipient === reader)
    if (!conversation || !lane) throw new ProtocolError('WRONG_CONVERSATION')
    if (frame.seq > conversation.committedSeq) {
      throw new ProtocolError('SEQ_UNKNOWN', { field: 'seq', rule: 'must be of a message that exists' })
    }
    // A mark is cumulative, and clients also know numbers of messages that they sent themselves.
    const first = readsVersion3 ? undefined : this.#rows.firstOfVersion3(conversation, lane)
    const seq = first === undefined ? frame.seq : Math.min(frame.seq, first - 1)
    const readSeq = frame.type === 'read' ? Math.max(lane.readSeq, seq) : lane.readSeq
    const deliveredSeq = Math.max(lane.deliveredSeq, seq)
    if (readSeq === lane.readSeq && deliveredSeq === lane.deliveredSeq) return
    this.#changesOf(conversation, lane)
    if (readSeq > lane.readSeq) lane.unreadSeqs = afterReading(lane.unreadSeqs, readSeq)
    lane.readSeq = readSeq
    lane.deliveredSeq = deliveredSeq
  }

  // Only friends may send, and only in their own conversation. The error does not tell a non-friend whether
  // the alias exists.
  #openLane(
    sender: AccountId,
    frame: { to: AliasId; conv_id: ConversationId },
  ): { conversation: Conversation; lane: Lane } {
    const conversation = this.#rows.conversation(frame.conv_id)
    const lane = conversation && laneFrom(conversation, sender)
    const addressee = this.#rows.ownerOf(frame.to)
    if (lane && addressee === lane.recipient) {
      if (!conversation.isOpen) throw new ProtocolError('NOT_FRIENDS')
      return { conversation, lane }
    }
    const friends = addressee !== undefined && this.#rows.areFriends(sender, addressee)
    throw new ProtocolError(friends ? 'WRONG_CONVERSATION' : 'NOT_FRIENDS')
  }

  #nextRow(
    conversation: Conversation,
    mailbox: Mailbox,
    what: { kind: MessageRow['kind']; id: string },
  ): Omit<MessageRow, 'crypto_v' | 'payload'> {
    if (!this.#mailboxes.has(mailbox)) this.#mailboxes.set(mailbox, mailbox.lastPosition)
    this.#conversations.add(conversation)
    conversation.lastSeq += 1
    // `at` never decreases within a conversation.
    conversation.lastAt = Math.max(conversation.lastAt, this.#now)
    mailbox.lastPosition += 1
    return {
      kind: what.kind,
      id: what.id,
      seq: conversation.lastSeq,
      at: conversation.lastAt,
      position: mailbox.lastPosition,
    }
  }

  #changesOf(conversation: Conversation, lane: Lane): LaneChanges {
    let work = this.#lanes.get(lane)
    if (!work) {
      const { deliveredSeq, readSeq, unreadSeqs, toldRound } = lane
      const before = { deliveredSeq, readSeq, unreadSeqs, toldRound }
      work = { conversation, lane, inserts: [], retractedSeqs: [], before }
      this.#lanes.set(lane, work)
    }
    return work
  }

  #sentId(sender: AccountId, id: string): SentId | undefined {
    return this.#newSentIds.get(keyOf({ sender, id })) ?? this.#rows.sentId(sender, id)
  }

  #rememberId(sent: SentId): void {
    this.#newSentIds.set(keyOf(sent), sent)
  }

  // A position may have no frame: its message was retracted within the batch.
  #mailboxRings(): AddressedRing[] {
    const waiting = new Map<Mailbox, { row: MessageRow; frame: string }[]>()
    const convIds = new Map<Mailbox, ConversationId[]>()
    const unlisted = new Set<Mailbox>()
    const ofVersion3 = new Set<Mailbox>()
    for (const { conversation, lane, inserts } of this.#lanes.values()) {
      if (inserts.length === 0) continue
      const mailbox = this.#rows.mailbox(lane.recipient)
      const list = waiting.get(mailbox) ?? []
      waiting.set(mailbox, list)
      const names = this.#namesFor(conversation, { to: lane.recipient, from: lane.sender })
      for (const row of inserts) {
        list.push({ row, frame: encodeRow(row, names) })
        if (row.crypto_v === EPOCH_VERSION) ofVersion3.add(mailbox)
      }
      const named = convIds.get(mailbox)
      if (named) named.push(conversation.convId)
      else convIds.set(mailbox, [conversation.convId])
      if (lane.unlistedSince > 0 && lane.deliveredSeq === 0) unlisted.add(mailbox)
    }
    return Array.from(this.#mailboxes, ([mailbox, lastBefore]) => {
      const sorted = (waiting.get(mailbox) ?? []).sort((a, b) => a.row.position - b.row.position)
      return {
        account: mailbox.account,
        ring: {
          kind: 'mailbox',
          firstPosition: lastBefore + 1,
          lastPosition: mailbox.lastPosition,
          frames: sorted.map(({ frame }) => frame),
          bytes: sorted.reduce((sum, { frame }) => sum + frame.length, 0),
          convIds: convIds.get(mailbox) ?? [],
          hasRetractions: sorted.some(({ row }) => row.kind === 'retraction'),
          hasUnlisted: unlisted.has(mailbox),
          hasVersion3: ofVersion3.has(mailbox),
        },
      }
    })
  }

  #namesFor(conversation: Conversation, who: { to: AccountId; from: AccountId }) {
    return {
      conv_id: conversation.convId,
      to: this.#rows.aliasOf(who.to),
      from: this.#rows.aliasOf(who.from),
    }
  }
}

function acknowledgement(
  { id, conv_id, crypto_v }: ClientFrameOf<'msg'>,
  { conversation, seq, at, isStored }: SentId,
  { isRepeat, lane }: { isRepeat: boolean; lane: Lane | undefined },
): Answered {
  const waits = crypto_v === EPOCH_VERSION && lane && isStored && seq > lane.deliveredSeq
  const recipient = waits ? lane.recipient : undefined
  return {
    answers: [{ type: 'ack', id, conv_id, seq, at }],
    acknowledged: { conversation, seq, isRepeat, recipient },
  }
}

function laneFrom(conversation: Conversation, sender: AccountId): Lane | undefined {
  return conversation.lanes.find((lane) => lane.sender === sender)
}

function keyOf(sent: { sender: AccountId; id: string }): string {
  return `${sent.sender} ${sent.id}`
}
