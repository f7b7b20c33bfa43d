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

/** The fields of a description, beside those of the status. */
export function describe(type: 'offer' | 'answer', sdp: string, restart?: number): CallSignalFields {
  return { sdp, sdp_type: type, ...(restart === undefined ? {} : { restart }) }
}

/** The description in an offer or an answer, or undefined where there is none. */
export function readDescription(type: 'offer' | 'answer', fields: CallSignalFields): Description | undefined {
  const { sdp, sdp_type: sdpType = type } = fields
  if (typeof sdp !== 'string' || sdp === '' || sdpType !== type) return undefined
  return { sdp, ...readStatus(fields) }
}

/** What a side asks of the other along with its status. */
export interface Wishes {
  /** To begin its next epoch: the keys of the one before were lost. */
  readonly renew: boolean
  /** To offer another way for the media, as the one there was is broken. Only who has called offers. */
  readonly reoffer: boolean
}

/** The fields that say how one sends, and what is wished for. */
export function writeStatus({ epoch, media }: MediaStatus, { renew, reoffer }: Wishes): CallSignalFields {
  return {
    ...{ epoch, audio: media.audio, video: media.video },
    ...(renew ? { renew } : {}),
    ...(reoffer ? { reoffer } : {}),
  }
}

/** What the other side asks for. */
export function readWishes({ renew, reoffer }: CallSignalFields): Wishes {
  return { renew: renew === true, reoffer: reoffer === true }
}

/** How the other side sends. What it does not say: all, under the first epoch. */
export function readStatus({ epoch, audio, video }: CallSignalFields): MediaStatus {
  return {
    epoch: typeof epoch === 'number' && Number.isSafeInteger(epoch) && epoch > 0 ? epoch : 1,
    media: { audio: audio !== false, video: video !== false },
  }
}

/** Which restart of the media a description in a `call_ice` belongs to, or undefined where there is none. */
export function readRestart({ sdp, restart }: CallSignalFields): number | undefined {
  const isRestart = sdp !== undefined && typeof restart === 'number' && Number.isSafeInteger(restart)
  return isRestart && restart > 0 ? restart : undefined
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
