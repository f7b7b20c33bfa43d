// The frames a client may send. Those of the relay are in relay-frames.ts: two closed unions, one per
// direction.
import * as v from 'valibot'
import { AliasId, ConversationId, CryptoVersion, Epoch, MessageId, Payload, Seq } from '../ids.ts'
import { sentCallFrames } from './call-frames.ts'
import { frameSchemas } from './frame-schemas.ts'

const Receipt = { conv_id: ConversationId, seq: Seq, to: AliasId }

/** Schemas of the frames a client may send, by `type`. */
export const clientFrames = frameSchemas({
  /** The relay answers `pong`. */
  ping: {},
  /**
   * A connection's first `sync` refers to the backlog already being sent; a later one repeats all unconfirmed
   * frames. `receipts` says that the client applies `delivered` and `read` only up to their `seq`. Older
   * clients do not send it. `crypto_v` is the highest version of messages that the client reads: those of
   * version 3 go only to a connection whose last `sync` said at least 3.
   */
  sync: { receipts: v.optional(v.literal('by_seq')), crypto_v: v.optional(CryptoVersion) },
  /**
   * A message. The relay stores it, sends `ack`, and delivers it. `after` is the id of the sender's message
   * before it in the conversation: the relay refuses it unless it has accepted that one. With `crypto_v` 3,
   * and only then, it has the `epoch` that its sender is in, and it is a handshake, which ends that epoch, if
   * it has the `group_info` of the next one.
   */
  msg: {
    id: MessageId,
    to: AliasId,
    conv_id: ConversationId,
    crypto_v: CryptoVersion,
    payload: Payload,
    after: v.optional(MessageId),
    epoch: v.optional(Epoch),
    group_info: v.optional(Payload),
  },
  /** Everything up to `seq` has arrived and is stored. */
  delivered: Receipt,
  /** Everything up to `seq` was read. Implies `delivered`. */
  read: Receipt,
  /** Forwarded if the peer is connected, otherwise dropped. */
  typing: { to: AliasId, conv_id: ConversationId },
  /** Retracts one of the sender's own messages. */
  retract: { id: MessageId, to: AliasId, conv_id: ConversationId },
  ...sentCallFrames,
})

/** The `type` of a frame a client may send. */
export type ClientFrameType = keyof typeof clientFrames
/** A frame a client may send, by its type. */
export type ClientFrameOf<T extends ClientFrameType> = v.InferOutput<(typeof clientFrames)[T]>
/** Any frame a client may send. */
export type ClientFrame = { [T in ClientFrameType]: ClientFrameOf<T> }[ClientFrameType]

/** Whether this is the `type` of a frame a client may send. */
export function isClientFrameType(type: string): type is ClientFrameType {
  return Object.hasOwn(clientFrames, type)
}
