// What the signals of a call say, besides whose they are: written and read. All of it flat, so that all of it is signed.
import type { CallSignalFields } from '@sotto/crypto'
import type { CallCandidate, SentMedia } from './call-peer.ts'

/** How a side sends: what, and under the keys of which epoch. */
export interface MediaStatus {
  readonly epoch: number
  readonly media: SentMedia
}

/** An offer's or an answer's description. */
export interface Description extends MediaStatus {
  readonly sdp: string
}

/** The fields of an offer or an answer. */
export function describe(type: 'offer' | 'answer', { sdp, ...status }: Description): CallSignalFields {
  return { sdp, sdp_type: type, ...writeStatus(status) }
}

/** The description in an offer or an answer, or undefined where there is none. */
export function readDescription(type: 'offer' | 'answer', fields: CallSignalFields): Description | undefined {
  const { sdp, sdp_type: sdpType = type } = fields
  if (typeof sdp !== 'string' || sdp === '' || sdpType !== type) return undefined
  return { sdp, ...readStatus(fields) }
}

/** The fields that say how one sends. */
export function writeStatus({ epoch, media }: MediaStatus): CallSignalFields {
  return { epoch, audio: media.audio, video: media.video }
}

/** How the other side sends. What it does not say: all, under the first epoch. */
export function readStatus({ epoch, audio, video }: CallSignalFields): MediaStatus {
  return {
    epoch: typeof epoch === 'number' && Number.isSafeInteger(epoch) && epoch > 0 ? epoch : 1,
    media: { audio: audio !== false, video: video !== false },
  }
}

/** Whether the fields say how the other side sends. */
export function hasStatus({ epoch }: CallSignalFields): boolean {
  return epoch !== undefined
}

/** The candidate in a `call_ice`, or undefined where there is none. */
export function readCandidate(fields: CallSignalFields): CallCandidate | undefined {
  const { candidate, sdpMid, sdpMLineIndex, usernameFragment } = fields
  if (typeof candidate !== 'string') return undefined
  return {
    candidate,
    sdpMid: typeof sdpMid === 'string' ? sdpMid : null,
    sdpMLineIndex: typeof sdpMLineIndex === 'number' ? sdpMLineIndex : null,
    usernameFragment: typeof usernameFragment === 'string' ? usernameFragment : null,
  }
}
