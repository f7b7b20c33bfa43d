// Limits of media.
import { KIB, type Limit, MIB } from './limit.ts'

/** Published clients send parts of this size: 5 MiB plus the length, nonce and tag of the encryption. */
const MEDIA_PART_BYTES = 5 * MIB + 32

export const mediaLimits = {
  mediaPartBytes: {
    default: MEDIA_PART_BYTES,
    min: MEDIA_PART_BYTES,
    max: 64 * MIB,
    setting: 'LIMIT_MEDIA_PART_BYTES',
    means: 'one part of an upload: a chunk of 5 MiB and the overhead of its encryption',
  },
  mediaBytes: {
    default: 20 * MEDIA_PART_BYTES,
    min: MIB,
    max: 10 * 1024 * MIB,
    setting: 'LIMIT_MEDIA_BYTES',
    means: 'one blob: a file of 100 MiB and the overhead of its encryption',
  },
  completeBytes: {
    default: 2 * MIB,
    min: 64 * KIB,
    max: 16 * MIB,
    setting: 'LIMIT_COMPLETE_BYTES',
    means: 'JSON body of a request that completes an upload; the default is enough for 10,000 parts',
  },
  mediaAccountBytes: {
    default: 1024 * MIB,
    min: MIB,
    max: 1024 * 1024 * MIB,
    setting: 'LIMIT_MEDIA_ACCOUNT_BYTES',
    means: 'blobs of one account, including unfinished uploads',
  },
  mediaAccountParts: {
    default: 10_000,
    min: 10,
    max: 10_000_000,
    setting: 'LIMIT_MEDIA_ACCOUNT_PARTS',
    means: 'parts of all blobs of one account',
  },
  mediaUploads: {
    default: 16,
    min: 1,
    max: 10_000,
    setting: 'LIMIT_MEDIA_UPLOADS',
    means: 'unfinished uploads of one account',
  },
  mediaUploadHours: {
    default: 24,
    min: 1,
    max: 720,
    setting: 'LIMIT_MEDIA_UPLOAD_HOURS',
    means: 'how long an upload can take before it is cancelled',
  },
  mediaWritesAtOnce: {
    default: 32,
    min: 1,
    max: 100_000,
    setting: 'LIMIT_MEDIA_WRITES_AT_ONCE',
    means: 'parts and uploads by a link that one account sends at once; a further one is `RATE_LIMITED`',
  },
  mediaPartSeconds: {
    default: 3600,
    min: 1,
    max: 86_400,
    setting: 'LIMIT_MEDIA_PART_SECONDS',
    means: 'how long one request can take to upload its bytes',
  },
  mediaLinkSeconds: {
    default: 900,
    min: 1,
    max: 86_400,
    setting: 'LIMIT_MEDIA_LINK_SECONDS',
    means: 'life of an upload or download link',
  },
  mediaLifeDays: {
    default: 60,
    min: 1,
    max: 36_500,
    setting: 'LIMIT_MEDIA_LIFE_DAYS',
    means: 'how long a blob is kept',
  },
} as const satisfies Record<string, Limit>
