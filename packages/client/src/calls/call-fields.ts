// Writes and reads the fields of call signals.
import type { CallSignalFields } from '@sotto/crypto'
import type { CallCandidate, SentMedia } from './call-peer.ts'

/** What media a side sends, and with the keys of which epoch. */
export interface MediaStatus {
  /** From 1. It is 0 if the other side names none: then it does not encrypt its media. */
  readonly epoch: number
  readonly media: SentMedia
}

/** The description in an offer or an answer. */
export interface Description extends MediaStatus {
  readonly sdp: string
}

/** The fields of a description, without those of the status. */
export function describe(type: 'offer' | 'answer', sdp: string, restart?: number): CallSignalFields {
  return { sdp, sdp_type: type, ...(restart === undefined ? {} : { restart }) }
}

/** The description in an offer or an answer; undefined if it has none. */
export function readDescription(type: 'offer' | 'answer', fields: CallSignalFields): Description | undefined {
  const { sdp, sdp_type: sdpType = type } = fields
  if (typeof sdp !== 'string' || sdp === '' || sdpType !== type) return undefined
  return { sdp, ...readStatus(fields) }
}

/** Whether the fields have a description of a client that does not encrypt its media. */
export function isUnencrypted(type: 'offer' | 'answer', fields: CallSignalFields): boolean {
  return readDescription(type, fields)?.epoch === 0
}

/** What a side requests of the other along with its status. */
export interface StatusRequests {
  /** Begin the next epoch, because the keys of the previous one were lost. */
  readonly renew: boolean
  /** Offer a restart of the broken media connection. Only the caller offers one. */
  readonly reoffer: boolean
}

/** The fields of this side's status and of its requests. */
export function writeStatus(
  { epoch, media }: MediaStatus,
  { renew, reoffer }: StatusRequests,
): CallSignalFields {
  return {
    ...{ epoch, audio: media.audio, video: media.video },
    ...(renew ? { renew } : {}),
    ...(reoffer ? { reoffer } : {}),
  }
}

/** The other side's requests. */
export function readRequests({ renew, reoffer }: CallSignalFields): StatusRequests {
  return { renew: renew === true, reoffer: reoffer === true }
}

/** The other side's status. Without `audio` and `video` it sends both. */
export function readStatus({ epoch, audio, video }: CallSignalFields): MediaStatus {
  return {
    epoch: typeof epoch === 'number' && Number.isSafeInteger(epoch) && epoch > 0 ? epoch : 0,
    media: { audio: audio !== false, video: video !== false },
  }
}

/** The number of the media restart in a `call_ice`; undefined if it has none. */
export function readRestart({ sdp, restart }: CallSignalFields): number | undefined {
  const isRestart = sdp !== undefined && typeof restart === 'number' && Number.isSafeInteger(restart)
  return isRestart && restart > 0 ? restart : undefined
}

/** Whether the fields contain a status. */
export function hasStatus(fields: CallSignalFields): boolean {
  return readStatus(fields).epoch > 0
}

/**
 * The fields of a candidate, as `RTCIceCandidate.toJSON` returns it. The signature covers only `candidate` in
 * it; the encryption protects the others.
 */
export function writeCandidate(candidate: CallCandidate): CallSignalFields {
  return { candidate }
}

/** The candidate in a `call_ice`, as an object or with its members among the fields; undefined if none. */
export function readCandidate(fields: CallSignalFields): CallCandidate | undefined {
  const { candidate: member } = fields
  const from: CallSignalFields = typeof member === 'object' && member !== null ? { ...member } : fields
  const { candidate, sdpMid, sdpMLineIndex, usernameFragment } = from
  if (typeof candidate !== 'string') return undefined
  return {
    candidate,
    sdpMid: typeof sdpMid === 'string' ? sdpMid : null,
    sdpMLineIndex: typeof sdpMLineIndex === 'number' ? sdpMLineIndex : null,
    usernameFragment: typeof usernameFragment === 'string' ? usernameFragment : null,
  }
}
