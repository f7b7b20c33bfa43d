// How a feature answers frames: a function from a valid frame to what its sender is told.
import type {
  CallFrame,
  CallFrameType,
  ClientFrame,
  ClientFrameOf,
  ClientFrameType,
  RelayFrame,
} from '@sotto/protocol'
import type { Connection } from './connection.ts'

/** Frames for the sender; a ProtocolError becomes an `error` frame. */
export type Answers = readonly RelayFrame[]

/** Answers frames of some types. `ping` is the gateway's own. */
export type FrameHandlers<T extends ClientFrameType> = {
  readonly [K in T]: (frame: ClientFrameOf<K>, connection: Connection) => Promise<Answers> | undefined
}

/** Every frame that features answer. */
export type FeatureFrame = Exclude<ClientFrameType, 'ping' | CallFrameType>

/** Every frame but those of calls, which go a way of their own. */
export type PlainFrame = Exclude<ClientFrame, CallFrame>

/** A frame of a call, with its text: it is forwarded as it came. */
export interface CallSignal {
  readonly type: CallFrameType
  readonly frame: CallFrame
  readonly text: string
}

/** Takes frames of calls; a ProtocolError becomes an `error` frame. */
export type CallHandler = (signal: CallSignal, connection: Connection) => Promise<void>

/** A feature that follows connections from their beginning to their end. */
export interface ConnectionFollower {
  opened(connection: Connection): void
  closed(connection: Connection): void
}

/** The feature that has to know what arrived. */
export interface DeliveryFollower extends ConnectionFollower {
  /** A valid frame came in, before its handler runs. */
  frameReceived(connection: Connection): void
  /** The answer to {@link Connection.ping}. */
  ponged(connection: Connection): void
  /** What was written ahead has been taken by the peer. */
  drained(connection: Connection): void
}
