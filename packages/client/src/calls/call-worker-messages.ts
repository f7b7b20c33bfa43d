// The messages between the page and the worker that encrypts a call's frames.
import type { CallTrackKind } from './call-peer.ts'

/** The direction of frames. */
export type FrameWay = 'send' | 'receive'

/** The options of a transform in the worker. */
export interface TransformOptions {
  readonly way: FrameWay
  readonly kind: CallTrackKind
  readonly framesPerEpoch: number
}

/** The key to use from now on. */
export interface WorkerKey {
  readonly way: FrameWay
  readonly kind: CallTrackKind
  readonly keyMaterial: Uint8Array
}

/** A message of the worker: it is ready for messages, or a key has encrypted its maximum of frames. */
export type WorkerNotice = 'ready' | 'spent'
