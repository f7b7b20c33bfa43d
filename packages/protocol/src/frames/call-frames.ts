// The frames of a call. They are the same in both directions: a relay forwards them unchanged.
import * as v from 'valibot'
import { AliasId, CallId, CryptoVersion, Payload } from '../ids.ts'
import type { FrameSchemas } from './frame-schemas.ts'

// Written out, because a bundler keeps a spread that nothing uses.
const Forwarded = { to: AliasId, call_id: CallId, crypto_v: CryptoVersion, payload: Payload, from: AliasId }
const Sent = {
  to: AliasId,
  call_id: CallId,
  crypto_v: CryptoVersion,
  payload: Payload,
  from: v.optional(AliasId),
}

/** The fields of a call's frames as a client sends them, by `type`. They may contain more. */
export const sentCallFrames = {
  /** Calls a friend. The relay keeps it for a friend who is not connected. */
  call_offer: Sent,
  /** Accepts a call. */
  call_answer: Sent,
  /** Rejects a call. */
  call_reject: Sent,
  /** A network path for the media of a call. */
  call_ice: Sent,
  /** Ends a call, accepted or not. */
  call_hangup: Sent,
} as const

/**
 * The fields of a call's frames as a relay forwards them: unchanged, but with `from` added if it was missing.
 */
export const forwardedCallFrames = {
  /** `from` calls. */
  call_offer: Forwarded,
  /** `from` accepts the call. */
  call_answer: Forwarded,
  /** `from` rejects the call. */
  call_reject: Forwarded,
  /** A network path to `from` for the media of the call. */
  call_ice: Forwarded,
  /** `from` ends the call. */
  call_hangup: Forwarded,
} as const

/** The `type` of a call's frame. */
export type CallFrameType = keyof typeof sentCallFrames
/** A call's frame as a client sends it, with the fields that a relay reads. */
export type CallFrame = {
  [T in CallFrameType]: v.InferOutput<FrameSchemas<typeof sentCallFrames>[T]>
}[CallFrameType]

/** Whether this is a call frame. */
export function isCallFrame<Frame extends { readonly type: string }>(
  frame: Frame,
): frame is Extract<Frame, { readonly type: CallFrameType }> {
  return Object.hasOwn(sentCallFrames, frame.type)
}
