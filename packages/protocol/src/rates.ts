// How often each thing may be asked of a relay: one table, read by the configuration and the document.

interface Rate {
  /** How many at once. */
  readonly burst: number
  /** How long a used-up burst takes to be whole again. */
  readonly perSeconds: number
  /** Whom it counts for. An address is an IPv4 address or an IPv6 /64. */
  readonly by: 'address' | 'account'
  readonly setting: string
  readonly means: string
}

/** Rates: `burst` at once, refilled evenly over `perSeconds`. `RATE_LIMITS=off` lifts them all. */
export const rates = {
  pow: { burst: 60, perSeconds: 60, by: 'address', setting: 'RATE_POW', means: 'proof-of-work challenges' },
  register: {
    burst: 30,
    perSeconds: 600,
    by: 'address',
    setting: 'RATE_REGISTER',
    means: 'registrations, wrong work and recoveries included',
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
  lookup: { burst: 120, perSeconds: 60, by: 'address', setting: 'RATE_LOOKUP', means: 'lookups of accounts' },
  friendRequest: {
    burst: 60,
    perSeconds: 3600,
    by: 'account',
    setting: 'RATE_FRIEND_REQUEST',
    means: 'friend requests',
  },
  shop: { burst: 120, perSeconds: 60, by: 'address', setting: 'RATE_SHOP', means: 'searches for ids' },
  order: { burst: 30, perSeconds: 3600, by: 'account', setting: 'RATE_ORDER', means: 'orders' },
  reserve: {
    burst: 3,
    perSeconds: 86_400,
    by: 'address',
    setting: 'RATE_RESERVE',
    means: 'orders of ids by nobody',
  },
  page: {
    burst: 240,
    perSeconds: 60,
    by: 'address',
    setting: 'RATE_PAGE',
    means: 'payment pages, and looks at their state',
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
    means: 'looks at the key to subscribe with',
  },
  push: {
    burst: 60,
    perSeconds: 600,
    by: 'account',
    setting: 'RATE_PUSH',
    means: 'changes of what is woken',
  },
  search: { burst: 30, perSeconds: 60, by: 'account', setting: 'RATE_SEARCH', means: 'searches' },
  post: { burst: 60, perSeconds: 60, by: 'account', setting: 'RATE_POST', means: 'posts to channels' },
  history: { burst: 60, perSeconds: 60, by: 'account', setting: 'RATE_HISTORY', means: 'pages of posts' },
  upload: {
    burst: 120,
    perSeconds: 60,
    by: 'account',
    setting: 'RATE_UPLOAD',
    means: 'uploads begun, completed and given up',
  },
  part: { burst: 600, perSeconds: 60, by: 'account', setting: 'RATE_PART', means: 'parts uploaded' },
  download: {
    burst: 600,
    perSeconds: 60,
    by: 'account',
    setting: 'RATE_DOWNLOAD',
    means: 'downloads, each range of one included',
  },
  link: {
    burst: 600,
    perSeconds: 60,
    by: 'address',
    setting: 'RATE_LINK',
    means: 'uploads and downloads by a link of the relay',
  },
  read: { burst: 600, perSeconds: 60, by: 'account', setting: 'RATE_READ', means: 'other reading requests' },
  write: {
    burst: 120,
    perSeconds: 60,
    by: 'account',
    setting: 'RATE_WRITE',
    means: 'other changing requests',
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
    means: 'frames of calls; faster ones wait, behind each other only',
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
    means: 'pings of both kinds and refused frames; faster closes with 1013',
  },
} as const satisfies Record<string, Rate>

/** A rate's name. */
export type RateName = keyof typeof rates
/** A rate in force. */
export interface RateInForce {
  readonly burst: number
  readonly perSeconds: number
}
/** The rates in force; undefined where they are lifted. */
export type Rates = Readonly<Record<RateName, RateInForce>> | undefined
