// The frames a relay sends.
import * as v from 'valibot'
import { ChannelPost, PostContent, PostType } from '../bodies/channels.ts'
import { RefId } from '../bodies/goods.ts'
import {
  AliasId,
  ChannelId,
  ConversationId,
  CryptoVersion,
  Epoch,
  FriendshipId,
  MessageId,
  Milliseconds,
  OrderId,
  Payload,
  PostId,
  Seq,
  Timestamp,
} from '../ids.ts'
import { forwardedCallFrames } from './call-frames.ts'
import { frameSchemas } from './frame-schemas.ts'

const Count = v.pipe(v.number(), v.safeInteger(), v.minValue(0))
const Receipt = { conv_id: ConversationId, seq: Seq, to: AliasId, from: AliasId }

/** Schemas of the frames a relay sends, by `type`. */
export const relayFrames = frameSchemas({
  /** The answer to `ping`. */
  pong: { at: Milliseconds },
  /**
   * A message from `from`. The relay assigns `seq` and `at`. With `crypto_v` 3 it has the `epoch` that it was
   * accepted in; a `handshake` ended that epoch.
   */
  msg: {
    id: MessageId,
    to: AliasId,
    conv_id: ConversationId,
    crypto_v: CryptoVersion,
    payload: Payload,
    from: AliasId,
    seq: Seq,
    at: Milliseconds,
    epoch: v.optional(Epoch),
    handshake: v.optional(v.literal(true)),
  },
  /**
   * The message is on stable storage. It `waits` if it has `crypto_v` 3 and the recipient's client, which is
   * connected, does not read that.
   */
  ack: {
    id: MessageId,
    conv_id: ConversationId,
    seq: Seq,
    at: Milliseconds,
    waits: v.optional(v.literal(true)),
  },
  /** `from` has received everything up to `seq`. */
  delivered: Receipt,
  /** `from` has read everything up to `seq`. */
  read: Receipt,
  /** `from` is typing. */
  typing: { to: AliasId, conv_id: ConversationId, from: AliasId },
  /** `from` has retracted its message `id`. */
  retract: { id: MessageId, to: AliasId, conv_id: ConversationId, from: AliasId, seq: Seq, at: Milliseconds },
  /** The retraction is on stable storage. */
  retract_ack: { id: MessageId, conv_id: ConversationId },
  /**
   * The backlog was sent; it had `count` stored frames. `incarnation` changes when the relay is restored from
   * a backup. Only a client that announces `crypto_v` 3 gets it.
   */
  sync_end: {
    count: Count,
    incarnation: v.optional(v.pipe(v.string(), v.maxLength(64))),
  },
  /** A hint that `from` asks for friendship. The friend list has the present state. */
  friend_request: { friendship_id: FriendshipId, from: AliasId },
  /** A hint that a request was accepted. It is sent before the first `msg` of the conversation. */
  friend_accepted: { friendship_id: FriendshipId, from: AliasId, conv_id: v.optional(ConversationId) },
  /**
   * A hint that a device of the account has few key packages left, without its last resort. A client asks for
   * the count when it connects. It only compares `device` with its own id, so the form is not checked.
   */
  key_packages_low: { device: v.string(), left: Count },
  /** A new post of a subscribed channel. `conv_id` repeats the channel's id for older clients. */
  channel_post: {
    channel_id: ChannelId,
    conv_id: ChannelId,
    id: PostId,
    post_type: PostType,
    content: PostContent,
    created_at: Timestamp,
    author_alias_id: AliasId,
    post: ChannelPost,
  },
  /** The account's order was paid. The relay keeps this frame until it has certainly arrived. */
  payment_confirmed: { order_id: OrderId, ref_id: RefId },
  ...forwardedCallFrames,
  /** The relay is about to close the connection. The client must not reconnect by itself. */
  goaway: { reason: v.picklist(['new_device_login', 'jwt_revoked', 'account_deleted']) },
  /**
   * Why one frame was refused. The connection stays open. `EPOCH_STALE` has the conversation's `epoch`,
   * `WITHDRAWN` the message's `seq`.
   */
  error: {
    error: v.string(),
    message: v.string(),
    id: v.optional(v.string()),
    conv_id: v.optional(v.string()),
    call_id: v.optional(v.string()),
    retry_after_ms: v.optional(v.pipe(v.number(), v.minValue(0))),
    epoch: v.optional(Epoch),
    seq: v.optional(Seq),
  },
})

/** The `type` of a frame a relay sends. */
export type RelayFrameType = keyof typeof relayFrames
/** A frame a relay sends, by its type. */
export type RelayFrameOf<T extends RelayFrameType> = v.InferOutput<(typeof relayFrames)[T]>
/** Any frame a relay sends. */
export type RelayFrame = { [T in RelayFrameType]: RelayFrameOf<T> }[RelayFrameType]

/** Whether this is the `type` of a frame a relay sends. */
export function isRelayFrameType(type: string): type is RelayFrameType {
  return Object.hasOwn(relayFrames, type)
}

/** The close code of a dead token: a client logs in again before it reconnects. The others need no action. */
export const TOKEN_DEAD_CLOSE_CODE = 4401

/** WebSocket close codes a relay uses. */
export const closeCodes = {
  badFrames: 1008,
  tooLarge: 1009,
  restart: 1012,
  overload: 1013,
  tokenDead: TOKEN_DEAD_CLOSE_CODE,
  replaced: 4409,
} as const

/** Why a relay closes a WebSocket. */
export type CloseReason = keyof typeof closeCodes

/** The meaning of each close code, as the relay sends it. */
export const closeMeanings: Readonly<Record<CloseReason, string>> = {
  badFrames: 'the peer keeps sending frames that are not JSON',
  tooLarge: 'a frame was far too large',
  restart: 'the relay restarts; reconnect',
  overload: 'the relay is overloaded or the peer reads too slowly; reconnect later',
  tokenDead: 'the token has expired or was revoked; log in again',
  replaced: 'replaced by a newer connection',
}
