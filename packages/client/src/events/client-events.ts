// The events that a client emits, by name.
import type { ChannelPost, FriendProfile } from '@sotto/protocol'
import type { ClientError } from '../client-error.ts'
import type { SecrecyNotice } from '../secrecy/secrecy.ts'
import type { CallRecord, MessageStatus, PublicIdentity, StoredMessage } from '../stores/stores.ts'

/** The state of the connection to the relay. */
export type NetworkState = 'connected' | 'connecting' | 'disconnected'

/** Whether the client is locked. */
export type LockState = 'locked' | 'unlocked'

/** A contact's keys are not the recorded ones. Fingerprints are security codes: 60 hex digits. */
export interface SecurityViolationEvent {
  readonly type: 'security_violation'
  readonly contactId: string
  readonly previousFingerprint: string
  readonly currentFingerprint: string
  readonly detectedAt: number
  readonly message: null
}

/** What happened to the forward secrecy of a conversation. */
export interface SecrecyEvent {
  readonly conversationId: string
  readonly notice: SecrecyNotice
}

/** What has changed in the store. */
export interface Change {
  /**
   * - `messages`: messages of a conversation came, changed, or were removed.
   * - `conversation`: something else that `conversation` answers, or its keys and trust.
   * - `friends`: the friend list.
   * - `calls`: the log of calls.
   * - `everything`: the client was locked or unlocked, the identity changed, or another tab runs the client.
   */
  readonly kind: 'messages' | 'conversation' | 'friends' | 'calls' | 'everything'
  /** The conversation, if one alone is concerned. */
  readonly conversationId?: string
}

/** Every event, by name. */
export interface ClientEvents {
  /**
   * Something that methods of the client answer has changed: read it again. Comes once for everything that
   * becomes durable together.
   */
  changes: readonly Change[]
  /** A received message, once it is stored. */
  message: StoredMessage
  /** The status of a sent message changed. */
  status_change: { readonly message: StoredMessage; readonly previous: MessageStatus }
  /** A message, sent or received, was retracted. Its text is deleted. */
  retracted: StoredMessage
  /** The sender of a message edited its text. */
  edited: StoredMessage
  /** This account or the contact reacted to a message, or took a reaction back. */
  reacted: StoredMessage
  network_state: NetworkState
  /** `isLocked` changed. If tabs share a client, another tab may have become the leader. */
  lock_state: LockState
  /**
   * `identity` changed: it was created, recovered or deleted, got another nickname or alias, or became
   * unavailable or available again with `lock_state`. The event does not include the phrase.
   */
  identity_changed: { readonly identity: PublicIdentity | undefined }
  /** The messages that waited at the relay for this connection have been received and stored. */
  synced: { readonly count: number }
  /** A new post in a subscribed channel. */
  channel_post: { readonly channelId: string; readonly post: ChannelPost }
  typing: { readonly fromAliasId: string; readonly conversationId: string }
  /**
   * The relay ended this connection. After `new_device_login` and `account_deleted` the client does not
   * reconnect. This event comes before the `network_state` that follows from it.
   */
  goaway: { readonly reason: 'new_device_login' | 'jwt_revoked' | 'account_deleted' }
  payment_confirmed: {
    readonly type: 'payment_confirmed'
    readonly order_id: string
    readonly ref_id: string
  }
  security_violation: SecurityViolationEvent
  /** Something about the forward secrecy of a conversation that the user, or at least a log, should know. */
  secrecy: SecrecyEvent
  /** The friend list shows a new received request. */
  friend_request: FriendProfile
  /** The friend list shows that a sent request was accepted. */
  friend_accepted: FriendProfile
  /** A friend calls, and there is no `Calls` yet. One that is made within a minute gets the call. */
  call_waiting: { readonly callId: string }
  /** A call has ended and is in the log. Only with the module `Calls`. */
  call_logged: CallRecord
  /**
   * An error that no call of the application reports. `REFUSED` with `ACCOUNT_SUSPENDED` says in its message
   * why the operator has suspended the account; the client stays disconnected until the next `connect`.
   */
  error: ClientError
}

/** The name of an event. */
export type ClientEventName = keyof ClientEvents
/** Handles one event. */
export type ClientEventHandler<N extends ClientEventName> = (event: ClientEvents[N]) => void
