// The types of calls that applications use.
import type { SentMedia } from './call-peer.ts'
import type { CallEnd, CallState } from './call-states.ts'

/** Options of `Calls`. */
export interface CallsOptions {
  /**
   * Whether media go only through the relay's TURN servers, so that the two sides do not learn each other's
   * addresses. Without such a server, calls fail. The default is false.
   */
  readonly relayOnly?: boolean
}

/** The current state of a call. */
export interface CallInfo {
  /** The id of the call. */
  readonly id: string
  /** The conversation with the contact. */
  readonly conversationId: string
  /** Whether this side called. */
  readonly isCaller: boolean
  readonly state: CallState
  /** Why the call ended; absent while it has not. */
  readonly end?: CallEnd
  /** The media that this side sends. */
  readonly ownMedia: SentMedia
  /** The media that the other side says it sends. */
  readonly theirMedia: SentMedia
  /** The other side's stream, to show in a `video` element. */
  readonly theirStream?: MediaStream
  /**
   * Whether another tab has the call: it sends and receives the media. Only with a `SharedClient`; `hangUp`
   * works in every tab.
   */
  readonly isElsewhere: boolean
  /** Whether this library turned off this side's video because the connection was too poor for it. */
  readonly isVideoDropped: boolean
}
