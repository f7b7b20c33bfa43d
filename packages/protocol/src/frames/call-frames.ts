// The frames of a call, which are alike in both directions: a relay forwards them as they are.
import * as v from 'valibot'
import { AliasId, CallId, CryptoVersion, Payload } from '../ids.ts'

const Signal = { to: AliasId, call_id: CallId, crypto_v: CryptoVersion, payload: Payload }
const Sent = { ...Signal, from: v.optional(AliasId) }
const Forwarded = { ...Signal, from: AliasId }

/** Schemas of a call's frames as a client sends them, by `type`. They may hold more than these fields. */
export const sentCallFrames = {
  /** Calls a friend. Waits for one that is not there. */
  call_offer: v.object({ type: v.literal('call_offer'), ...Sent }),
  /** Takes a call. */
  call_answer: v.object({ type: v.literal('call_answer'), ...Sent }),
  /** Refuses a call. */
  call_reject: v.object({ type: v.literal('call_reject'), ...Sent }),
  /** A way to be reached for the media of a call. */
  call_ice: v.object({ type: v.literal('call_ice'), ...Sent }),
  /** Ends a call, taken or not. */
  call_hangup: v.object({ type: v.literal('call_hangup'), ...Sent }),
} as const

/** Schemas of a call's frames as a relay hands them on: as they were sent, `from` filled in where it was missing. */
export const forwardedCallFrames = {
  /** `from` calls. */
  call_offer: v.object({ type: v.literal('call_offer'), ...Forwarded }),
  /** `from` takes the call. */
  call_answer: v.object({ type: v.literal('call_answer'), ...Forwarded }),
  /** `from` refuses the call. */
  call_reject: v.object({ type: v.literal('call_reject'), ...Forwarded }),
  /** A way to reach `from` for the media of the call. */
  call_ice: v.object({ type: v.literal('call_ice'), ...Forwarded }),
  /** `from` ends the call. */
  call_hangup: v.object({ type: v.literal('call_hangup'), ...Forwarded }),
} as const

/** The `type` of a call's frame. */
export type CallFrameType = keyof typeof sentCallFrames
/** A call's frame as a client sends it, as far as a relay looks at it. */
export type CallFrame = {
  [T in CallFrameType]: v.InferOutput<(typeof sentCallFrames)[T]>
}[CallFrameType]

/** True for a frame of a call. */
export function isCallFrame<Frame extends { readonly type: string }>(
  frame: Frame,
): frame is Extract<Frame, { readonly type: CallFrameType }> {
  return Object.hasOwn(sentCallFrames, frame.type)
}
