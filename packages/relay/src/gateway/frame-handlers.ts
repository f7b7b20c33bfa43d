// The types by which features handle frames: a handler gets a valid frame and returns the answers to its
// sender.
import type {
  CallFrame,
  CallFrameType,
  ClientFrame,
  ClientFrameOf,
  ClientFrameType,
  RelayFrame,
} from '@sotto/protocol'
import type { Connection } from './connection.ts'

/** The frames that answer the sender. A handler's ProtocolError becomes an `error` frame. */
export type Answers = readonly RelayFrame[]

/** Handlers of some types of frames. The gateway itself answers `ping`. */
export type FrameHandlers<T extends ClientFrameType> = {
  readonly [K in T]: (frame: ClientFrameOf<K>, connection: Connection) => Promise<Answers> | undefined
}

/** The types of frames that features handle with FrameHandlers. */
export type FeatureFrame = Exclude<ClientFrameType, 'ping' | CallFrameType>

/** Every frame except those of calls, which are handled separately. */
export type PlainFrame = Exclude<ClientFrame, CallFrame>

/** A frame of a call with its original text, which is forwarded unchanged. */
export interface CallSignal {
  readonly type: CallFrameType
  readonly frame: CallFrame
  readonly text: string
}

/** Handles frames of calls. A ProtocolError becomes an `error` frame. */
export type CallHandler = (signal: CallSignal, connection: Connection) => Promise<void>

/** A feature that is notified when connections open and close. */
export interface ConnectionFollower {
  opened(connection: Connection): void
  closed(connection: Connection): void
}

/**
 * The feature that delivers frames. It is also notified of the client's frames, its pongs, and received
 * buffers.
 */
export interface DeliveryFollower extends ConnectionFollower {
  /** A valid frame arrived. Called before its handler. */
  frameReceived(connection: Connection): void
  /** The pong that answers {@link Connection.ping} arrived. */
  pongReceived(connection: Connection): void
  /** The peer has received what was buffered. */
  drained(connection: Connection): void
}
