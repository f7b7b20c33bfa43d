// The bus, by which nodes notify each other. A ring (a notification on the bus) may get lost: that delays a
// stored frame, but does not lose it.
import type { ConversationId } from '@sotto/protocol'
import type { AccountId } from '../storage/storage.ts'

/** A mark as a frame for the sender of the messages that it covers. */
export interface ReceiptMark {
  readonly frame: string
  /** What the frame tells: a `delivered` tells nothing of what was read. */
  readonly deliveredSeq: number
  readonly readSeq: number
  /** Whether it covers the sender's last message that is neither retracted nor expired. */
  readonly coversAll: boolean
}

/** What changed of the marks of a conversation, for the account that sent the messages that they cover. */
export interface ChangedReceipts {
  readonly conversation: number
  readonly toldRound: number
  /** The conversation's last `seq` when the marks were judged. */
  readonly lastSeq: number
  /** The marks that advanced. */
  readonly marks: readonly ReceiptMark[]
  /**
   * Whether another mark covers all of the sender's messages now, because the last ones were retracted or
   * expired.
   */
  readonly hasNewlyCovering: boolean
}

/**
 * New stored frames, from `firstPosition` to `lastPosition` of the account's mailbox, encoded and in order.
 */
export interface MailboxRing {
  readonly kind: 'mailbox'
  readonly firstPosition: number
  readonly lastPosition: number
  readonly frames: readonly string[]
  readonly bytes: number
  /** The conversations that they are of. */
  readonly convIds: readonly ConversationId[]
  readonly hasRetractions: boolean
  /** Whether some are of a conversation that the account's client may not know yet. */
  readonly hasUnlisted: boolean
  /** Whether some have `crypto_v` 3. Older nodes do not say it. */
  readonly hasVersion3?: boolean
}

/** A notification for an account's connection, on any node. */
export type Ring =
  | MailboxRing
  /**
   * A friend list that names these conversations, each with the time of the acceptance, leaves for the
   * account (`listing`), or the client had its time to read it (`listed`).
   */
  | { readonly kind: 'listing' | 'listed'; readonly conversations: ReadonlyMap<ConversationId, number> }
  /** A hint. It is not stored. */
  | { readonly kind: 'frame'; readonly frame: string }
  /**
   * A signal of a call or a typing notice. It is not stored, and a client that reads too slowly does not get
   * it.
   */
  | { readonly kind: 'signal'; readonly frame: string }
  /** The other party ended or answered the account's call, so its offer must not wait any more. */
  | { readonly kind: 'call_over'; readonly callee: AccountId; readonly callId: string }
  /** What changed of the marks of a conversation, which are stored until they have certainly arrived. */
  | ({ readonly kind: 'receipt' } & ChangedReceipts)
  /** A notice: a frame outside the mailbox's order, which is stored until it has certainly arrived. */
  | { readonly kind: 'notice'; readonly id: number; readonly frame: string }
  /** The account has a new connection. Any older one must close. */
  | {
      readonly kind: 'connected'
      readonly connection: string
      readonly jti: string
      /** Which of the account's connections it is, over all nodes. Undefined in a relay of one process. */
      readonly epoch: number | undefined
    }
  /** The token is dead. A connection that was opened with it must close. */
  | { readonly kind: 'token_dead'; readonly jti: string }
  /** The account logged out everywhere: its tokens are dead, except those whose id ends in this text. */
  | { readonly kind: 'logged_out'; readonly exceptTokensEndingIn: string }
  /** The account was suspended. Its connection gets this frame, which says why, and must close. */
  | { readonly kind: 'suspended'; readonly frame: string }
  /**
   * The other account of a conversation is not suspended any more, or has taken messages back: what was
   * withheld may be sent.
   */
  | { readonly kind: 'released'; readonly conversation: ConversationId }
  /** The account was deleted. */
  | { readonly kind: 'deleted' }
  /** From now on the account gets the frames published under a topic, or stops getting them. */
  | { readonly kind: 'topic'; readonly topic: string; readonly isWanted: boolean }

/** A notification with the account that it is for. */
export interface AddressedRing {
  readonly account: AccountId
  readonly ring: Ring
}

/** Whether notifications arrive. */
export interface BusState {
  /** Whether this node hears what it sends itself. If not, it looks into the store every two seconds. */
  readonly isHeard: boolean
  /** How many nodes it hears, itself included. */
  readonly nodes: number
  /** Packets that this node has sent. */
  readonly sent: number
  /** Packets of other nodes that have arrived. */
  readonly received: number
  /** How often packets of other nodes were missing, or may have been. */
  readonly gaps: number
  /** How often this node has looked into the store, because something may have been lost or was long ago. */
  readonly looks: number
}

/** Sends notifications to accounts and frames to topics, on all nodes. */
export interface Bus {
  ring(account: AccountId, ring: Ring): void
  /**
   * Adds a listener for rings, of this node (`isOwn`) and of others. Called while the relay starts.
   */
  listen(listener: (account: AccountId, ring: Ring, isOwn: boolean) => void): void
  /** Tells every node that the relay's keys have changed. */
  keysChanged(): void
  /** Adds a listener for changed keys. Called while the relay starts. */
  listenToKeys(listener: () => void): void
  /**
   * Sends a frame to every connection on a topic, on all nodes. It is not stored, so only connected clients
   * get it.
   */
  publish(topic: string, frame: string): void
  /** Adds a listener for every published frame. Called while the relay starts. */
  listenToTopics(listener: (topic: string, frame: string) => void): void
  /** The name of this node, which is new at each start; '' in a relay of one process. */
  readonly node: string
  /** Whether other nodes work at the moment, which may have connections that this one cannot see. */
  readonly isShared: boolean
  /** Whether a node works at the moment, as far as this one knows. */
  hears(node: string): boolean
  readonly state: BusState
  /**
   * Adds a listener that is called when notifications of other nodes may have been lost, and now and then
   * otherwise. The store says what is due. Called while the relay starts.
   */
  listenToLoss(listener: () => void): void
  /**
   * Lets the other nodes look into the store soon, because something may have been stored of which no ring
   * tells.
   */
  letOthersLook(): void
  /** Sends what waits, and ends. */
  stop(): Promise<void>
}
