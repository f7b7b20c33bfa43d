// What an application says and is told of calls.
import type { SentMedia } from './call-peer.ts'
import type { CallEnd, CallState } from './call-states.ts'

/** Options of `Calls`. */
export interface CallsOptions {
  /**
   * Media goes through the relay's TURN servers only, so that the two sides do not learn each other's addresses. Where
   * there is no such server, there is no call. False unless told.
   */
  readonly relayOnly?: boolean
}

/** A call, as it is now. */
export interface CallInfo {
  /** The call's own. */
  readonly id: string
  /** Whom it is with. */
  readonly conversationId: string
  /** Whether this side called. */
  readonly isCaller: boolean
  readonly state: CallState
  /** Why it is over, where it is. */
  readonly end?: CallEnd
  /** What this side sends. */
  readonly ownMedia: SentMedia
  /** What the other side says it sends. */
  readonly theirMedia: SentMedia
  /** What the other side sends, to be shown in a `video` element. */
  readonly theirStream?: MediaStream
  /** Own video was ended by this library, since the connection was too poor for it. */
  readonly isVideoDropped: boolean
}
