// The frames a client may send. The relay's own are in relay-frames.ts: two closed unions, one a direction.
import * as v from 'valibot'
import { AliasId, ConversationId, CryptoVersion, MessageId, Payload, Seq } from '../ids.ts'
import { sentCallFrames } from './call-frames.ts'

const Receipt = { conv_id: ConversationId, seq: Seq, to: AliasId }

/** Schemas of the frames a client may send, by `type`. */
export const clientFrames = {
  /** Answered by `pong`. */
  ping: v.object({ type: v.literal('ping') }),
  /** The first of a connection asks for the backlog already under way, a later one for all that is unconfirmed. */
  sync: v.object({ type: v.literal('sync') }),
  /** A message: stored, then `ack`, then delivered. */
  msg: v.object({
    type: v.literal('msg'),
    id: MessageId,
    to: AliasId,
    conv_id: ConversationId,
    crypto_v: CryptoVersion,
    payload: Payload,
  }),
  /** All up to `seq` has arrived and is kept. */
  delivered: v.object({ type: v.literal('delivered'), ...Receipt }),
  /** All up to `seq` has been read; implies `delivered`. */
  read: v.object({ type: v.literal('read'), ...Receipt }),
  /** Forwarded if the peer is there, else dropped. */
  typing: v.object({ type: v.literal('typing'), to: AliasId, conv_id: ConversationId }),
  /** Takes back one of the sender's own messages. */
  retract: v.object({ type: v.literal('retract'), id: MessageId, to: AliasId, conv_id: ConversationId }),
  ...sentCallFrames,
} as const

/** The `type` of a frame a client may send. */
export type ClientFrameType = keyof typeof clientFrames
/** A frame a client may send, by its type. */
export type ClientFrameOf<T extends ClientFrameType> = v.InferOutput<(typeof clientFrames)[T]>
/** Any frame a client may send. */
export type ClientFrame = { [T in ClientFrameType]: ClientFrameOf<T> }[ClientFrameType]

/** True for the `type` of a frame a client may send. */
export function isClientFrameType(type: string): type is ClientFrameType {
  return Object.hasOwn(clientFrames, type)
}
