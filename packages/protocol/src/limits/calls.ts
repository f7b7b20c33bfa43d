// Limits of calls.
import { KIB, type Limit, MIB } from './limit.ts'

export const callLimits = {
  offerSeconds: {
    default: 45,
    min: 5,
    max: 60,
    setting: 'LIMIT_OFFER_SECONDS',
    means: 'how long a call offer waits for an answer',
  },
  offerCandidates: {
    default: 64,
    min: 0,
    max: 1000,
    setting: 'LIMIT_OFFER_CANDIDATES',
    means: '`call_ice` frames kept with a waiting offer',
  },
  offerBytes: {
    default: 256 * KIB,
    min: 4 * KIB,
    max: 16 * MIB,
    setting: 'LIMIT_OFFER_BYTES',
    means: 'a waiting offer with its `call_ice` frames',
  },
  offers: {
    default: 16,
    min: 1,
    max: 1000,
    setting: 'LIMIT_OFFERS',
    means: 'waiting offers of one caller and for one callee, each; a new one replaces the oldest',
  },
  allOffersBytes: {
    default: 64 * MIB,
    min: MIB,
    max: 64 * 1024 * MIB,
    setting: 'LIMIT_ALL_OFFERS_BYTES',
    means: 'all waiting offers; beyond this, the oldest offer of the caller with the most bytes is removed',
  },
} as const satisfies Record<string, Limit>
