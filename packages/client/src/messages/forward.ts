// What the messages need of version 3. Its part of the client (`forward-secrecy/`) is a script of its
// own, which is loaded with the first use.
import type { ConversationId, RelayFrame } from '@sotto/protocol'
import type {
  AboutMessage,
  OutboxIntent,
  SessionRecord,
  StoreChange,
  StoredMessage,
} from '../stores/stores.ts'

/** What names a message of the outbox. */
export type MessageOfContact = Pick<OutboxIntent, 'internalId' | 'conversationId' | 'version' | 'about'>

/** Version 3, as the messages use it. Nothing here throws or rejects: failures are reported by the part. */
export interface Forward {
  /** The own X25519 key, if contacts are told of version 3: the relay has key packages of this device. */
  readonly announcer: string | undefined
  /**
   * Whether it is known if the contact has version 3. If not, the relay is asked, and the outbox resumes
   * then: a device that lost its state must not go back to an older version.
   */
  knows(session: SessionRecord): boolean
  /** A contact has announced version 3, which is stored. */
  onAnnounced(conversationId: ConversationId): void
  /** Handles a message or handshake of version 3. `following` are the next frames that are here. */
  receive(
    frame: Extract<RelayFrame, { readonly type: 'msg' }>,
    following: readonly RelayFrame[],
  ): Promise<void>
  /** Encrypts what waits in a conversation as soon as that is possible, and takes the marks `unsent` away. */
  seal(conversationId: ConversationId): void
  /** Writes that the relay has a message, together with `changes`, and then calls `after`. */
  accepted(intent: MessageOfContact, seq: number, changes: readonly StoreChange[], after: () => void): void
  /** Writes that a message will not be sent, together with `changes`, and then calls `after`. */
  failed(intent: MessageOfContact, changes: readonly StoreChange[], after: () => void): void
  /** The relay refused a message because the conversation is in another epoch. */
  stale(intent: OutboxIntent, epoch: number): void
  /**
   * Sees each frame about messages first. For a receipt it resolves once every `accepted` before it is
   * written: a receipt covers only messages with a `seq`.
   * @returns true if it was the answer to a handshake; false if the frame is about something else
   */
  onFrame(frame: RelayFrame): Promise<boolean>
}

/**
 * What holds up a conversation until the user decides.
 *
 * - `displaced`: another device of this account has taken it over.
 * - `own_rejoins`: this device had to join again too often in a day, or the relay has no group that it can
 *   join: whether another device of this account has the conversation is unknown then.
 * - `peer_rejoins`: the contact has joined again too often in a day.
 */
export type SecrecyStop = 'displaced' | 'own_rejoins' | 'peer_rejoins'

/** What the user decides. See `SecrecyChoices`. */
export type SecrecyWord = 'use_this_device' | 'allow_rejoins' | 'allow_older_version'

/** What the user asks of version 3. */
export interface UserSecrecy {
  /** What holds up a conversation. */
  stopOf(conversationId: ConversationId): Promise<SecrecyStop | undefined>
  /** Carries out what the user decided. Resolves once it is stored. */
  decide(conversationId: ConversationId, word: SecrecyWord): Promise<void>
  readonly profiles: {
    /** See `Profiles.setName`. */
    setName(name: string | undefined): Promise<void>
  }
  readonly changes: {
    /** See `Edits.edit`. */
    edit(contact: string, id: AboutMessage['id'], text: string): Promise<StoredMessage>
    /** See `Reactions`. Without a text the reaction is taken back. */
    react(
      contact: string,
      name: Pick<AboutMessage, 'isMe' | 'id'>,
      text: string | undefined,
    ): Promise<StoredMessage>
  }
}
