// Bodies and replies of calls.
import * as v from 'valibot'

export const IceConfigQuery = v.object({
  /** `relay`: media goes only through TURN servers, so that the peers do not learn each other's addresses. */
  mode: v.optional(v.pipe(v.string(), v.maxLength(32, 'must be at most 32 characters'))),
})

/** A STUN or TURN server, in the form for `RTCPeerConnection`. */
export const IceServer = v.object({
  urls: v.array(v.string()),
  username: v.optional(v.string()),
  credential: v.optional(v.string()),
})
/** See {@link IceServer}. */
export type IceServer = v.InferOutput<typeof IceServer>

/** An `RTCConfiguration` in snake case, and how long its credentials are valid. */
export const IceConfig = v.object({
  /** Seconds. */
  ttl: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
  ice_transport_policy: v.picklist(['all', 'relay']),
  ice_servers: v.array(IceServer),
})
/** See {@link IceConfig}. */
export type IceConfig = v.InferOutput<typeof IceConfig>
