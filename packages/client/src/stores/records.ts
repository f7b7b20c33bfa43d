// Schemas of the stored records. They give the types, and check records read from a disk.
import {
  AccountUuid,
  AliasId,
  ConversationId,
  Epoch,
  FriendProfile,
  MessageId,
  Payload,
  PublicKey,
  Seq,
} from '@sotto/protocol'
import * as v from 'valibot'

const Time = v.number()

/**
 * The one identity of a device. `mnemonic` never leaves the device; a sealed store holds it in sealed form.
 */
export const StoredIdentity = v.object({
  uuid: AccountUuid,
  aliasId: AliasId,
  nickname: v.string(),
  mnemonic: v.string(),
  signingPublicKey: PublicKey,
  ecdhPublicKey: PublicKey,
})
/** See {@link StoredIdentity}. */
export type StoredIdentity = Readonly<v.InferOutput<typeof StoredIdentity>>

/** The identity without its phrase. It may be displayed, and sent to other tabs. */
export type PublicIdentity = Omit<StoredIdentity, 'mnemonic'>

export function publicPart({ mnemonic: _, ...identity }: StoredIdentity): PublicIdentity {
  return identity
}

export const MessageStatus = v.picklist(['sending', 'sent', 'delivered', 'read', 'failed'])
/** The progress of a sent message. A received message is `delivered` once it is stored here. */
export type MessageStatus = v.InferOutput<typeof MessageStatus>

/** What a hidden message of version 3 changes: a message of this account (`isMe`), or of the contact. */
export const AboutMessage = v.object({
  kind: v.picklist(['edit', 'reaction', 'deletion']),
  isMe: v.boolean(),
  id: MessageId,
})
/** See {@link AboutMessage}. */
export type AboutMessage = Readonly<v.InferOutput<typeof AboutMessage>>

/** The last reaction of this account (`isMe`), or of the contact. */
export const MessageReaction = v.object({
  isMe: v.boolean(),
  /** One emoji. Without it, the reaction was taken back. */
  text: v.exactOptional(v.string()),
  /** When, as its sender says. */
  at: Time,
})
/** See {@link MessageReaction}. */
export type MessageReaction = Readonly<v.InferOutput<typeof MessageReaction>>
const Reactions = v.exactOptional(v.pipe(v.array(MessageReaction), v.readonly()))

/** A decrypted message, sent or received. `time` is the sender's clock until the relay reports its own. */
export const StoredMessage = v.object({
  id: MessageId,
  conversationId: ConversationId,
  text: v.string(),
  isMe: v.boolean(),
  time: Time,
  status: MessageStatus,
  /**
   * `undecryptable`: no key of this device decrypts the payload. `unknown`: it has a content that only a
   * later version of this client knows.
   */
  msgType: v.exactOptional(v.picklist(['text', 'image', 'file', 'voice', 'undecryptable', 'unknown'])),
  /** The media key; of a file with a key of its own also that key, behind a `#`. */
  mediaUrl: v.exactOptional(v.string()),
  /** A file's name. */
  caption: v.exactOptional(v.string()),
  /** The media key of a larger preview of an image, with its own key behind a `#`. Only under version 3. */
  previewKey: v.exactOptional(v.string()),
  /** What its sender wrote to an image or a file. Only under version 3. */
  words: v.exactOptional(v.string()),
  /** An image's dimensions in pixels, as its sender says. */
  width: v.exactOptional(v.number()),
  height: v.exactOptional(v.number()),
  /** The size of an image or a file, as its sender says. */
  sizeBytes: v.exactOptional(v.number()),
  /** A small preview of an image: a data URL of a JPEG of at most 16 KiB, 320 pixels wide and high. */
  thumbnail: v.exactOptional(v.string()),
  /** The length of a voice message, as its sender says. */
  durationMs: v.exactOptional(v.number()),
  /** The loudness of a voice message over time: 1 to 64 whole numbers from 0 to 100. */
  waveform: v.exactOptional(v.pipe(v.array(v.number()), v.readonly())),
  seq: v.exactOptional(Seq),
  fromAliasId: v.exactOptional(AliasId),
  replyToId: v.exactOptional(v.string()),
  /** The sender retracted it; the text is deleted. */
  retracted: v.exactOptional(v.literal(true)),
  /** The relay's error code, if the status is `failed`. */
  failure: v.exactOptional(v.string()),
  /** The nonce of its payload, Base64. It reveals a replayed payload. */
  nonce: v.exactOptional(v.string()),
  /**
   * The user deleted it on this device. Its content is gone, and it is in no list. What is left reveals a
   * repetition by the relay.
   */
  removed: v.exactOptional(v.literal(true)),
  /** It was sent under version 3, which has forward secrecy. Others have the conversation's one key. */
  version: v.exactOptional(v.literal(3)),
  /** The content of an `unknown` one as it was received, Base64. */
  content: v.exactOptional(v.string()),
  /** When its text was last edited, as its sender says. */
  editedAt: v.exactOptional(Time),
  /** At most one for each account. */
  reactions: Reactions,
  /** It is hidden, and changes another message. */
  about: v.exactOptional(AboutMessage),
})
/** See {@link StoredMessage}. */
export type StoredMessage = Readonly<v.InferOutput<typeof StoredMessage>>

/** What is kept of a message that the user deleted on this device. */
export function tombstoneOf(message: StoredMessage): StoredMessage {
  const { conversationId, id, isMe, seq, status, nonce, retracted, version, about } = message
  return {
    ...{ conversationId, id, isMe, status, text: '', time: 0, removed: true },
    ...(seq && { seq }),
    ...(nonce && { nonce }),
    ...(retracted && { retracted }),
    ...(version && { version }),
    ...(about && { about }),
  }
}

/** The fields of a stored message that can change. */
export const MessagePatch = v.object({
  text: v.exactOptional(v.string()),
  time: v.exactOptional(Time),
  status: v.exactOptional(MessageStatus),
  seq: v.exactOptional(Seq),
  retracted: v.exactOptional(v.literal(true)),
  failure: v.exactOptional(v.string()),
  editedAt: v.exactOptional(Time),
  reactions: Reactions,
})
/** See {@link MessagePatch}. */
export type MessagePatch = Readonly<v.InferOutput<typeof MessagePatch>>

/** A message with other fields. A message that is retracted keeps nothing of what it said. */
export function patched(message: StoredMessage, patch: MessagePatch): StoredMessage {
  const all = { ...message, ...patch }
  const { mediaUrl, caption, width, height, sizeBytes, thumbnail, durationMs, waveform, ...more } = all
  const { previewKey, words, content, editedAt, reactions, ...rest } = more
  return all.retracted ? { ...rest, text: '' } : all
}

/**
 * A message that the relay has not acknowledged yet. `internalId` is the message's id, the same in every
 * attempt.
 */
export const OutboxIntent = v.object({
  internalId: MessageId,
  conversationId: ConversationId,
  toAliasId: AliasId,
  text: v.string(),
  addedAt: Time,
  replyToId: v.exactOptional(v.string()),
  /**
   * Encrypted once: every attempt sends the same bytes. A message of version 3 has none before it is about to
   * leave.
   */
  payload: v.exactOptional(Payload),
  /** It goes under version 3. */
  version: v.exactOptional(v.literal(3)),
  /**
   * It was written without a connection and never sent: this is taken away before it is. So a later run may
   * still send it under another version. Only of clients with forward secrecy.
   */
  unsent: v.exactOptional(v.literal(true)),
  /** The relay's epoch in which the payload was encrypted. */
  epoch: v.exactOptional(Epoch),
  /** Its place in the order in which messages of version 3 were encrypted: they are sent in this order. */
  place: v.exactOptional(v.number()),
  /** The id of the earlier message that it repeats, because the contact lost its keys before it was read. */
  resends: v.exactOptional(MessageId),
  /** What it changes, if it is hidden. Its content is read when it is encrypted. */
  about: v.exactOptional(AboutMessage),
})
/** See {@link OutboxIntent}. */
export type OutboxIntent = Readonly<v.InferOutput<typeof OutboxIntent>>

/** A retraction that the relay has not acknowledged yet. */
export const RetractIntent = v.object({
  messageId: MessageId,
  conversationId: ConversationId,
  toAliasId: AliasId,
  addedAt: Time,
})
/** See {@link RetractIntent}. */
export type RetractIntent = Readonly<v.InferOutput<typeof RetractIntent>>

/**
 * The session key and the public keys of one contact, as they were when the session was created. A sealed
 * store holds `sessionKeyBase64` in sealed form.
 */
export const SessionRecord = v.object({
  conversationId: ConversationId,
  theirAliasId: AliasId,
  theirEcdhPublicKey: PublicKey,
  theirEd25519PublicKey: v.exactOptional(PublicKey),
  sessionKeyBase64: v.string(),
  trustState: v.picklist(['unverified', 'verified']),
  createdAt: Time,
  /** Earlier aliases of the contact. No other contact may ever use one of them. */
  formerAliasIds: v.exactOptional(v.array(AliasId)),
  /**
   * The contact has announced version 3. From then on it is sent nothing under a lower one, unless the user
   * permits that: then this goes, until the contact is seen to speak version 3 again.
   */
  speaks: v.exactOptional(v.literal(3)),
  /** The relay said once that the conversation has no group, which version 3 would have. */
  hadNoGroup: v.exactOptional(v.literal(true)),
  /** The user permits a lower version than the contact announced, until the contact speaks that one again. */
  lowered: v.exactOptional(v.literal(true)),
})
/** See {@link SessionRecord}. */
export type SessionRecord = Readonly<v.InferOutput<typeof SessionRecord>>

/**
 * Whether the user verified a contact, when, and with which security code. `renewedAt` is when `renewSession`
 * recorded new keys, if the user has not compared them since.
 */
export const TrustState = v.variant('status', [
  v.object({ status: v.literal('unverified'), renewedAt: v.exactOptional(Time) }),
  v.object({ status: v.literal('verified'), verifiedAt: Time, fingerprintSnapshot: v.string() }),
])
/** See {@link TrustState}. */
export type TrustState = Readonly<v.InferOutput<typeof TrustState>>

/** What a list of conversations shows of one, as far as it is stored. */
export const ConversationSummary = v.object({
  conversationId: ConversationId,
  /** The last message that is not removed. */
  lastMessage: v.union([StoredMessage, v.undefined()]),
  /** How many messages the contact wrote after the read mark, without what was retracted or removed. */
  unread: v.number(),
  /** The `seq` of the first of these. */
  firstUnreadSeq: v.exactOptional(v.number()),
  trust: TrustState,
})
/** See {@link ConversationSummary}. */
export type ConversationSummary = Readonly<v.InferOutput<typeof ConversationSummary>>

/** A received message that cannot be decrypted yet. `createdAt` is the relay's time. */
export const OfflineMessage = v.object({
  conversationId: ConversationId,
  seq: Seq,
  payloadEncrypted: v.string(),
  createdAt: Time,
  id: MessageId,
  fromAliasId: AliasId,
  cryptoVersion: v.number(),
})
/** See {@link OfflineMessage}. */
export type OfflineMessage = Readonly<v.InferOutput<typeof OfflineMessage>>

/**
 * How far the user has read a conversation (`readSeq`), and which `read` the relay has surely received
 * (`toldSeq`).
 */
export const ReadMark = v.object({ conversationId: ConversationId, readSeq: v.number(), toldSeq: v.number() })
/** See {@link ReadMark}. */
export type ReadMark = Readonly<v.InferOutput<typeof ReadMark>>

/** What the user decided about a conversation. A field that is absent was not decided. */
export const ConversationSettings = v.object({
  conversationId: ConversationId,
  /** The user's own name for the contact. */
  name: v.exactOptional(v.string()),
  /** Pinned conversations come first in the list, sorted by this number. */
  pinned: v.exactOptional(v.number()),
  /** No notifications until this time, in milliseconds since 1970. */
  mutedUntil: v.exactOptional(Time),
  archived: v.exactOptional(v.literal(true)),
  /** A text that the user has begun to write. */
  draft: v.exactOptional(v.string()),
  /** The id of the message that this text will reply to. */
  draftReplyToId: v.exactOptional(v.string()),
  /** The user marked it as unread. */
  markedUnread: v.exactOptional(v.literal(true)),
})
/** See {@link ConversationSettings}. */
export type ConversationSettings = Readonly<v.InferOutput<typeof ConversationSettings>>

/** A call that has ended. Times are this device's clock. */
export const CallRecord = v.object({
  /** The call's id. */
  id: v.string(),
  conversationId: v.string(),
  /** Whether this side called. */
  isCaller: v.boolean(),
  startedAt: Time,
  /** How long the two sides were connected, in milliseconds; absent if they never were. */
  durationMs: v.exactOptional(v.number()),
  /** Why it ended, see `CallEnd`. */
  end: v.string(),
  /** The contact called, and nobody here accepted or rejected it. */
  missed: v.boolean(),
})
/** See {@link CallRecord}. */
export type CallRecord = Readonly<v.InferOutput<typeof CallRecord>>

/** How names of the library's own values among those of the application begin. */
export const LIBRARY_VALUES = 'sotto/'

/** A small value that the application, or the library, keeps with the identity. */
export const AppRecord = v.object({ name: v.string(), value: v.string() })
/** See {@link AppRecord}. */
export type AppRecord = Readonly<v.InferOutput<typeof AppRecord>>

/** Sorts calls by time, the latest first. */
export function latestFirst(a: CallRecord, b: CallRecord): number {
  return b.startedAt - a.startedAt
}

/**
 * The wrapped data key of a sealed store. It is wrapped by a key derived from a passphrase, by a key that the
 * application keeps elsewhere, or by a browser key that scripts cannot read. The store does not check its
 * numbers; the vault that unwraps it does.
 */
export const VaultRecord = v.variant('kind', [
  v.object({
    kind: v.literal('passphrase'),
    /** The cost of scrypt (RFC 7914). */
    n: v.number(),
    r: v.number(),
    p: v.number(),
    /** Base64. */
    salt: v.string(),
    /** Base64 of nonce, ciphertext and tag. */
    wrappedKey: v.string(),
  }),
  v.object({ kind: v.literal('key'), wrappedKey: v.string() }),
  v.object({
    kind: v.literal('device_key'),
    /** The name of the browser's key. */
    keyName: v.string(),
    wrappedKey: v.string(),
  }),
])
/** See {@link VaultRecord}. */
export type VaultRecord = Readonly<v.InferOutput<typeof VaultRecord>>

/**
 * One change to a store. `clear` deletes everything except the vault, for a device that gets another
 * identity. After `clear` and `vault` the old data cannot be read from the store any more, as far as the
 * store can guarantee that.
 *
 * `message_removed` deletes one message, `messages_removed` every message of a conversation: each is replaced
 * by its tombstone (`removed`), which no later change turns into a message again.
 *
 * `secret` keeps a sealed value under a name, or removes it if it has none (secret-states.ts).
 */
export const StoreChange = v.variant('change', [
  v.object({ change: v.literal('clear') }),
  v.object({ change: v.literal('vault'), vault: VaultRecord }),
  v.object({ change: v.literal('vault_removed') }),
  v.object({ change: v.literal('identity'), identity: StoredIdentity }),
  v.object({ change: v.literal('session'), session: SessionRecord }),
  v.object({ change: v.literal('session_removed'), conversationId: ConversationId }),
  v.object({ change: v.literal('trust'), conversationId: ConversationId, trust: TrustState }),
  v.object({ change: v.literal('friends'), friends: v.array(FriendProfile) }),
  v.object({ change: v.literal('message'), message: StoredMessage }),
  v.object({
    change: v.literal('message_patch'),
    conversationId: ConversationId,
    isMe: v.boolean(),
    id: MessageId,
    patch: MessagePatch,
  }),
  v.object({
    change: v.literal('message_removed'),
    conversationId: ConversationId,
    isMe: v.boolean(),
    id: MessageId,
  }),
  v.object({ change: v.literal('messages_removed'), conversationId: ConversationId }),
  v.object({ change: v.literal('outbox_added'), intent: OutboxIntent }),
  v.object({ change: v.literal('outbox_removed'), internalId: MessageId }),
  v.object({ change: v.literal('retract_added'), intent: RetractIntent }),
  v.object({ change: v.literal('retract_removed'), conversationId: ConversationId, messageId: MessageId }),
  v.object({ change: v.literal('offline_added'), message: OfflineMessage }),
  v.object({ change: v.literal('offline_removed'), conversationId: ConversationId, seq: Seq }),
  v.object({ change: v.literal('read_mark'), mark: ReadMark }),
  v.object({ change: v.literal('settings'), settings: ConversationSettings }),
  v.object({ change: v.literal('call_logged'), call: CallRecord }),
  v.object({ change: v.literal('call_removed'), id: v.string() }),
  v.object({ change: v.literal('app_data'), record: AppRecord }),
  v.object({ change: v.literal('app_data_removed'), name: v.string() }),
  v.object({ change: v.literal('secret'), name: v.string(), value: v.exactOptional(v.string()) }),
  v.object({ change: v.literal('secrets_removed') }),
])
/** See {@link StoreChange}. */
export type StoreChange = Readonly<v.InferOutput<typeof StoreChange>>

/** The conversation of a change: it names it, or is a record that does. */
export function conversationOf(change: StoreChange): string | undefined {
  for (const value of [change, ...Object.values(change)])
    if (typeof value === 'object' && 'conversationId' in value) return value.conversationId
  return undefined
}
