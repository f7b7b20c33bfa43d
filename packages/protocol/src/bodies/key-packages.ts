// Bodies and replies of key packages, by which a device is added to a conversation while it is not connected.
import * as v from 'valibot'
import { ConversationId, Timestamp } from '../ids.ts'

/** The most characters of a key package, in Base64. One with a hybrid key has about 3,700. */
const KEY_PACKAGE_CHARACTERS = 8192
/** The most packages in one body, whose bytes bound them earlier. */
const MOST_IN_BODY = 100

/** A device's id, chosen by the device: 16 random bytes in lower-case hexadecimal. */
const DeviceId = v.pipe(v.string(), v.regex(/^[0-9a-f]{32}$/, 'must be 16 bytes in lower-case hexadecimal'))

/** A package's id: 1 to 64 printable ASCII characters, unique among all packages of an account, for good. */
const KeyPackageId = v.pipe(
  v.string(),
  v.regex(/^[\x21-\x7e]{1,64}$/, 'must be 1 to 64 printable ASCII characters without spaces'),
)

/** A key package: standard Base64 with padding. Opaque to the relay. */
const KeyPackage = v.pipe(
  v.string(),
  v.minLength(4, 'must not be empty'),
  v.maxLength(KEY_PACKAGE_CHARACTERS, `must be at most ${KEY_PACKAGE_CHARACTERS} characters`),
  v.regex(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/, 'must be Base64 with padding'),
)

const Count = v.pipe(v.number(), v.safeInteger(), v.minValue(0))

export const UploadKeyPackagesBody = v.object({
  device: DeviceId,
  /** Each is given out once, and not after `expires_at`. */
  packages: v.pipe(
    v.array(v.object({ id: KeyPackageId, package: KeyPackage, expires_at: Timestamp })),
    v.maxLength(MOST_IN_BODY, `must be at most ${MOST_IN_BODY} packages`),
  ),
  /** Given out when there is no other, again and again. It replaces the device's former one. */
  last_resort: v.optional(v.object({ id: KeyPackageId, package: KeyPackage })),
})
/** See {@link UploadKeyPackagesBody}. */
export type UploadKeyPackagesBody = v.InferOutput<typeof UploadKeyPackagesBody>

/** What a device has at the relay now. `count` is without the last resort. */
export const UploadKeyPackagesReply = v.object({ count: Count, has_last_resort: v.boolean() })

export const OwnKeyPackages = v.object({
  devices: v.array(
    v.object({
      device: DeviceId,
      /** How many can be given out, without the last resort. */
      count: Count,
      has_last_resort: v.boolean(),
      /** When the first of them expires; null if there is none. */
      expires_at: v.nullable(Timestamp),
    }),
  ),
})

export const KeyPackagesPath = v.object({ device: DeviceId })

export const ClaimPath = v.object({ conv_id: ConversationId })

export const ClaimedKeyPackages = v.object({
  /** One for each device that has any, that of the device that uploaded last first. */
  packages: v.array(
    v.object({ device: DeviceId, id: KeyPackageId, package: KeyPackage, is_last_resort: v.boolean() }),
  ),
})
