// What the page and the worker that encrypts a call's frames say to each other.
import type { CallTrackKind } from './call-peer.ts'

/** Which way frames go. */
export type FrameWay = 'send' | 'receive'

/** What a transform in the worker is made with. */
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

/** What the worker says: that it hears, or that a key has encrypted as many frames as it is to. */
export type WorkerNotice = 'ready' | 'spent'
