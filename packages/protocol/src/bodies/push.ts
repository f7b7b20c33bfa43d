// Bodies and replies of push, which wakes devices that are not connected.
import * as v from 'valibot'

const ENDPOINT_CHARACTERS = 2048

export const VapidKeyReply = v.object({ vapid_public_key: v.string() })

/** The result of a browser’s `PushSubscription.toJSON()`; other members are ignored. */
export const SubscribeBody = v.object({
  /** The URL of the browser at its push service. Anyone who has it can wake the device. */
  endpoint: v.pipe(
    v.string(),
    v.maxLength(ENDPOINT_CHARACTERS, `must be at most ${ENDPOINT_CHARACTERS} characters`),
    v.regex(/^https:\/\/[\x21-\x7e]+$/, 'must be a URL that begins with https://'),
  ),
  /** The relay’s key that the browser subscribed with. Without it, the relay takes its newest. */
  vapid_public_key: v.optional(v.pipe(v.string(), v.maxLength(128, 'must be at most 128 characters'))),
  keys: v.object({
    /** The browser’s public key on P-256: 65 bytes, uncompressed. */
    p256dh: v.pipe(v.string(), v.regex(/^B[\w-]{85}[AEIMQUYcgkosw048]$/, 'must be 65 bytes in base64url')),
    auth: v.pipe(v.string(), v.regex(/^[\w-]{21}[AQgw]$/, 'must be 16 bytes in base64url')),
  }),
})
/** See {@link SubscribeBody}. */
export type SubscribeBody = v.InferOutput<typeof SubscribeBody>

export const RegisterPushBody = v.object({
  /** A registration token of Firebase Cloud Messaging. */
  token: v.pipe(
    v.string(),
    v.regex(/^[\x21-\x7e]{1,2048}$/, 'must be 1 to 2048 printable ASCII characters without spaces'),
  ),
  /** The kind of device, such as `android`. */
  platform: v.pipe(v.string(), v.regex(/^[a-z0-9_-]{1,32}$/, 'must be 1 to 32 of a-z, 0-9, _ and -')),
})
