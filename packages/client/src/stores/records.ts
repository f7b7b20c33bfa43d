// What a client keeps on its device, as schemas: types for the code, and the check for what comes back from a disk.
import {
  AccountUuid,
  AliasId,
  ConversationId,
  FriendProfile,
  MessageId,
  Payload,
  PublicKey,
  Seq,
} from '@sotto/protocol'
import * as v from 'valibot'

const Time = v.number()

/** The one identity of a device. `mnemonic` never leaves it; in a sealed store it is there in sealed form. */
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

/** The identity without its phrase: what may be shown, and told to other tabs. */
export type PublicIdentity = Omit<StoredIdentity, 'mnemonic'>

export function publicPart({ mnemonic: _, ...identity }: StoredIdentity): PublicIdentity {
  return identity
}

export const MessageStatus = v.picklist(['sending', 'sent', 'delivered', 'read', 'failed'])
/** How far an own message has come. A peer's message is `delivered` once it is stored here. */
export type MessageStatus = v.InferOutput<typeof MessageStatus>

/** A message of either side, decrypted. `time` is the sender's clock until the relay has given its own. */
export const StoredMessage = v.object({
  id: MessageId,
  conversationId: ConversationId,
  text: v.string(),
  isMe: v.boolean(),
  time: Time,
  status: MessageStatus,
  /** `undecryptable` stands for a payload that the session key does not open. */
  msgType: v.exactOptional(v.picklist(['text', 'image', 'file', 'voice', 'undecryptable'])),
  mediaUrl: v.exactOptional(v.string()),
  caption: v.exactOptional(v.string()),
  seq: v.exactOptional(Seq),
  fromAliasId: v.exactOptional(AliasId),
  replyToId: v.exactOptional(v.string()),
  /** Its sender took it back; the text is gone. */
  retracted: v.exactOptional(v.literal(true)),
  /** The relay's code, for a message that is `failed`. */
  failure: v.exactOptional(v.string()),
  /** The nonce of the payload it came or left in, Base64: by it a payload played again is known. */
  nonce: v.exactOptional(v.string()),
})
/** See {@link StoredMessage}. */
export type StoredMessage = Readonly<v.InferOutput<typeof StoredMessage>>

/** What can change in a message once it is stored. */
export const MessagePatch = v.object({
  text: v.exactOptional(v.string()),
  time: v.exactOptional(Time),
  status: v.exactOptional(MessageStatus),
  seq: v.exactOptional(Seq),
  retracted: v.exactOptional(v.literal(true)),
  failure: v.exactOptional(v.string()),
})
/** See {@link MessagePatch}. */
export type MessagePatch = Readonly<v.InferOutput<typeof MessagePatch>>

/** A message the relay has not acknowledged yet. `internalId` is the message's id, through every attempt. */
export const OutboxIntent = v.object({
  internalId: MessageId,
  conversationId: ConversationId,
  toAliasId: AliasId,
  text: v.string(),
  addedAt: Time,
  replyToId: v.exactOptional(v.string()),
  /** Encrypted once: every attempt sends the same bytes. */
  payload: Payload,
})
/** See {@link OutboxIntent}. */
export type OutboxIntent = Readonly<v.InferOutput<typeof OutboxIntent>>

/** A retraction the relay has not acknowledged yet. */
export const RetractIntent = v.object({
  messageId: MessageId,
  conversationId: ConversationId,
  toAliasId: AliasId,
  addedAt: Time,
})
/** See {@link RetractIntent}. */
export type RetractIntent = Readonly<v.InferOutput<typeof RetractIntent>>

/**
 * The keys shared with one contact, as they were when the session was made. In a sealed store `sessionKeyBase64` is there
 * in sealed form.
 */
export const SessionRecord = v.object({
  conversationId: ConversationId,
  theirAliasId: AliasId,
  theirEcdhPublicKey: PublicKey,
  theirEd25519PublicKey: v.exactOptional(PublicKey),
  sessionKeyBase64: v.string(),
  trustState: v.picklist(['unverified', 'verified']),
  createdAt: Time,
  /** Aliases the contact had before; no other contact may ever appear under one of them. */
  formerAliasIds: v.exactOptional(v.array(AliasId)),
})
/** See {@link SessionRecord}. */
export type SessionRecord = Readonly<v.InferOutput<typeof SessionRecord>>

/** Whether the person behind a contact was verified, when, and which security code was compared. */
export const TrustState = v.variant('status', [
  v.object({ status: v.literal('unverified') }),
  v.object({ status: v.literal('verified'), verifiedAt: Time, fingerprintSnapshot: v.string() }),
])
/** See {@link TrustState}. */
export type TrustState = Readonly<v.InferOutput<typeof TrustState>>

/** A message that cannot be decrypted yet; kept as it came. `createdAt` is the relay's time. */
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

/** How far this side has read a conversation, and how far the relay is known to have been told. */
export const ReadMark = v.object({ conversationId: ConversationId, readSeq: v.number(), toldSeq: v.number() })
/** See {@link ReadMark}. */
export type ReadMark = Readonly<v.InferOutput<typeof ReadMark>>

/**
 * The data key of a sealed store, wrapped: by a key stretched from a passphrase, by a key the application keeps elsewhere,
 * or by a key of the browser that scripts cannot read. A store keeps it as it is; what its numbers may be is checked by
 * whoever unwraps.
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
    /** Which of the browser's keys. */
    keyName: v.string(),
    wrappedKey: v.string(),
  }),
])
/** See {@link VaultRecord}. */
export type VaultRecord = Readonly<v.InferOutput<typeof VaultRecord>>

/**
 * One change of what is stored. `clear` forgets everything but the vault, for a device that takes another identity.
 * `clear` and `vault` leave nothing readable of what they replace, as far as the store can see to that.
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
  v.object({ change: v.literal('outbox_added'), intent: OutboxIntent }),
  v.object({ change: v.literal('outbox_removed'), internalId: MessageId }),
  v.object({ change: v.literal('retract_added'), intent: RetractIntent }),
  v.object({ change: v.literal('retract_removed'), conversationId: ConversationId, messageId: MessageId }),
  v.object({ change: v.literal('offline_added'), message: OfflineMessage }),
  v.object({ change: v.literal('offline_removed'), conversationId: ConversationId, seq: Seq }),
  v.object({ change: v.literal('read_mark'), mark: ReadMark }),
])
/** See {@link StoreChange}. */
export type StoreChange = Readonly<v.InferOutput<typeof StoreChange>>
