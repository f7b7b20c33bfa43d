// How often each operation is allowed, in one table for configuration and documents. Endpoints name their
// rate in endpoints/. The relay overrides these values by its settings (config.ts) and enforces them in
// listener/request-rates.ts and gateway/frame-rates.ts.

interface Rate {
  /** How many at once. */
  readonly burst: number
  /** Seconds until a used-up burst is fully refilled. */
  readonly perSeconds: number
  /** What the rate is counted by. An address is an IPv4 address or an IPv6 /64. */
  readonly by: 'address' | 'account'
  readonly setting: string
  readonly means: string
}

const MIB = 1024 * 1024

/** Rates: `burst` at once, refilled evenly over `perSeconds`. `RATE_LIMITS=off` lifts them all. */
export const rates = {
  pow: { burst: 60, perSeconds: 60, by: 'address', setting: 'RATE_POW', means: 'proof-of-work challenges' },
  register: {
    burst: 30,
    perSeconds: 600,
    by: 'address',
    setting: 'RATE_REGISTER',
    means: 'registrations, including recoveries and wrong proofs of work',
  },
  login: {
    burst: 300,
    perSeconds: 60,
    by: 'address',
    setting: 'RATE_LOGIN',
    means: 'login challenges and their answers',
  },
  upgrade: {
    burst: 300,
    perSeconds: 60,
    by: 'address',
    setting: 'RATE_UPGRADE',
    means: 'WebSocket upgrades',
  },
  lookup: {
    burst: 120,
    perSeconds: 60,
    by: 'address',
    setting: 'RATE_LOOKUP',
    means: 'lookups of accounts, and blocks',
  },
  friendRequest: {
    burst: 60,
    perSeconds: 3600,
    by: 'account',
    setting: 'RATE_FRIEND_REQUEST',
    means: 'friend requests',
  },
  keyPackages: {
    burst: 120,
    perSeconds: 600,
    by: 'account',
    setting: 'RATE_KEY_PACKAGES',
    means: 'uploads and claims of key packages',
  },
  shop: { burst: 120, perSeconds: 60, by: 'address', setting: 'RATE_SHOP', means: 'searches for ids' },
  order: { burst: 30, perSeconds: 3600, by: 'account', setting: 'RATE_ORDER', means: 'orders' },
  reserve: {
    burst: 3,
    perSeconds: 86_400,
    by: 'address',
    setting: 'RATE_RESERVE',
    means: 'orders of ids without an account; exact over any such time, and kept over a restart',
  },
  page: {
    burst: 600,
    perSeconds: 60,
    by: 'address',
    setting: 'RATE_PAGE',
    means: 'payment pages, requests for their state, and files of the web app',
  },
  callback: {
    burst: 1200,
    perSeconds: 60,
    by: 'address',
    setting: 'RATE_CALLBACK',
    means: 'notifications of payment processors',
  },
  pushKey: {
    burst: 120,
    perSeconds: 60,
    by: 'address',
    setting: 'RATE_PUSH_KEY',
    means: 'requests for the key to subscribe with',
  },
  push: {
    burst: 60,
    perSeconds: 600,
    by: 'account',
    setting: 'RATE_PUSH',
    means: 'changes of push subscriptions',
  },
  search: { burst: 30, perSeconds: 60, by: 'account', setting: 'RATE_SEARCH', means: 'channel searches' },
  report: { burst: 20, perSeconds: 3600, by: 'account', setting: 'RATE_REPORT', means: 'reports' },
  post: { burst: 60, perSeconds: 60, by: 'account', setting: 'RATE_POST', means: 'posts to channels' },
  history: {
    burst: 60,
    perSeconds: 60,
    by: 'account',
    setting: 'RATE_HISTORY',
    means: 'pages of channel posts',
  },
  upload: {
    burst: 120,
    perSeconds: 60,
    by: 'account',
    setting: 'RATE_UPLOAD',
    means: 'uploads begun, completed and cancelled',
  },
  part: { burst: 600, perSeconds: 60, by: 'account', setting: 'RATE_PART', means: 'parts uploaded' },
  uploadBytes: {
    burst: 64 * MIB,
    perSeconds: 2,
    by: 'account',
    setting: 'RATE_UPLOAD_BYTES',
    means: 'bytes of parts and of uploads by a link; further ones are read only as fast',
  },
  download: {
    burst: 600,
    perSeconds: 60,
    by: 'account',
    setting: 'RATE_DOWNLOAD',
    means: 'downloads; each range counts',
  },
  downloadBytes: {
    burst: 2048 * MIB,
    perSeconds: 3600,
    by: 'account',
    setting: 'RATE_DOWNLOAD_BYTES',
    means: 'bytes downloaded, also through links that the account requested',
  },
  link: {
    burst: 600,
    perSeconds: 60,
    by: 'address',
    setting: 'RATE_LINK',
    means: 'uploads and downloads through the relay’s links',
  },
  longReply: {
    burst: 32 * MIB,
    perSeconds: 60,
    by: 'account',
    setting: 'RATE_LONG_REPLY',
    means: 'bytes of lists and of pages of posts; a reply may exceed it, and the next one waits for that',
  },
  read: {
    burst: 600,
    perSeconds: 60,
    by: 'account',
    setting: 'RATE_READ',
    means: 'other requests that read',
  },
  write: {
    burst: 120,
    perSeconds: 60,
    by: 'account',
    setting: 'RATE_WRITE',
    means: 'other requests that change something',
  },
  message: {
    burst: 500,
    perSeconds: 10,
    by: 'account',
    setting: 'RATE_MESSAGE',
    means: 'messages and retractions; faster ones wait',
  },
  frame: {
    burst: 2000,
    perSeconds: 10,
    by: 'account',
    setting: 'RATE_FRAME',
    means: 'other frames; faster ones wait',
  },
  call: {
    burst: 300,
    perSeconds: 10,
    by: 'account',
    setting: 'RATE_CALL',
    means: 'call frames; faster ones wait, only behind each other',
  },
  frameBytes: {
    burst: 4 * MIB,
    perSeconds: 4,
    by: 'account',
    setting: 'RATE_FRAME_BYTES',
    means: 'bytes of frames of any type; further ones wait before they are parsed',
  },
  callBytes: {
    burst: MIB,
    perSeconds: 10,
    by: 'account',
    setting: 'RATE_CALL_BYTES',
    means: 'bytes of call frames; further ones wait, only behind each other',
  },
  sync: {
    burst: 60,
    perSeconds: 60,
    by: 'account',
    setting: 'RATE_SYNC',
    means: '`sync` frames; faster ones wait',
  },
  atOnce: {
    burst: 2000,
    perSeconds: 10,
    by: 'account',
    setting: 'RATE_AT_ONCE',
    means: 'pings of both kinds, pongs and refused frames; more closes with 1013',
  },
} as const satisfies Record<string, Rate>

/** A rate's name. */
export type RateName = keyof typeof rates
/** A rate in force. */
export interface RateInForce {
  readonly burst: number
  readonly perSeconds: number
}
/** The rates in force; undefined if rates are turned off. */
export type Rates = Readonly<Record<RateName, RateInForce>> | undefined
