// Every size, count and lifetime of the relay, in one table for configuration and documents. Rates are in
// rates.ts.
import { POST_BYTES } from './bodies/channels.ts'
import { PAYLOAD_CHARACTERS } from './ids.ts'

interface Limit {
  readonly default: number
  /** The smallest and the largest value that the setting accepts. */
  readonly min: number
  readonly max: number
  /** The environment variable that changes it. */
  readonly setting: string
  readonly means: string
}

const KIB = 1024
const MIB = 1024 * KIB
/** Published clients send parts of this size: 5 MiB plus the length, nonce and tag of the encryption. */
const MEDIA_PART_BYTES = 5 * MIB + 32

/** Sizes, counts and lifetimes. The unit is in the name. */
export const limits = {
  frameBytes: {
    default: 256 * KIB,
    min: 4 * KIB,
    max: 16 * MIB,
    setting: 'LIMIT_FRAME_BYTES',
    means:
      'one WebSocket frame; a larger one is refused, and one of more than four times as much closes with 1009',
  },
  payloadCharacters: {
    default: PAYLOAD_CHARACTERS,
    min: 256,
    max: PAYLOAD_CHARACTERS,
    setting: 'LIMIT_PAYLOAD_CHARACTERS',
    means: '`payload` of one message, as Base64',
  },
  bodyBytes: {
    default: 64 * KIB,
    min: 4 * KIB,
    max: 16 * MIB,
    setting: 'LIMIT_BODY_BYTES',
    means: 'JSON body of one request',
  },
  heldBytes: {
    default: 4 * MIB,
    min: 256 * KIB,
    max: 256 * MIB,
    setting: 'LIMIT_HELD_BYTES',
    means: 'frames of one connection that wait for its rates; more closes with 1013',
  },
  allHeldBytes: {
    default: 64 * MIB,
    min: MIB,
    max: 64 * 1024 * MIB,
    setting: 'LIMIT_ALL_HELD_BYTES',
    means:
      'frames of all connections that wait for their rates; more closes the connections that hold the most, with 1013',
  },
  commitBytes: {
    default: 128 * MIB,
    min: 4 * MIB,
    max: 64 * 1024 * MIB,
    setting: 'LIMIT_COMMIT_BYTES',
    means:
      'frames of all connections that wait to be committed; a connection that adds more is closed with 1013',
  },
  outboundBytes: {
    default: 8 * MIB,
    min: 256 * KIB,
    max: 256 * MIB,
    setting: 'LIMIT_OUTBOUND_BYTES',
    means: 'unread answers of one connection; more closes with 1013',
  },
  unreadBytes: {
    default: 512 * MIB,
    min: MIB,
    max: 1024 * 1024 * MIB,
    setting: 'LIMIT_UNREAD_BYTES',
    means:
      'unread answers and posts of all connections of a node; more closes the connections with the most, with 1013',
  },
  windowBytes: {
    default: 256 * KIB,
    min: 16 * KIB,
    max: 16 * MIB,
    setting: 'LIMIT_WINDOW_BYTES',
    means: 'stored messages sent to a slow reader before it has read the earlier ones',
  },
  badFrames: {
    default: 10,
    min: 1,
    max: 1000,
    setting: 'LIMIT_BAD_FRAMES',
    means: 'frames that are not JSON from one connection before it is closed with 1008',
  },
  idleSeconds: {
    default: 75,
    min: 8,
    max: 900,
    setting: 'LIMIT_IDLE_SECONDS',
    means: 'how long a connection may be silent before it is closed',
  },
  connections: {
    default: 0,
    min: 0,
    max: 10_000_000,
    setting: 'LIMIT_CONNECTIONS',
    means:
      'connections of one relay; 0 and too many mean the descriptor limit less a quarter, at most 1,024, that is kept for files',
  },
  addressConnections: {
    default: 0,
    min: 0,
    max: 10_000_000,
    setting: 'LIMIT_ADDRESS_CONNECTIONS',
    means: 'requests under way and WebSockets of one address; 0 means a quarter of all connections',
  },
  mailboxMessages: {
    default: 10_000,
    min: 10,
    max: 100_000_000,
    setting: 'LIMIT_MAILBOX_MESSAGES',
    means: 'undelivered messages of one account',
  },
  mailboxBytes: {
    default: 64 * MIB,
    min: MIB,
    max: 1024 * 1024 * MIB,
    setting: 'LIMIT_MAILBOX_BYTES',
    means: 'undelivered payloads of one account',
  },
  mailboxRetractions: {
    default: 10_000,
    min: 10,
    max: 100_000_000,
    setting: 'LIMIT_MAILBOX_RETRACTIONS',
    means: 'retractions that wait for one account; each stores at most 128 bytes of its own',
  },
  conversationPercent: {
    default: 20,
    min: 1,
    max: 100,
    setting: 'LIMIT_CONVERSATION_PERCENT',
    means: 'percentage of these three that one conversation may use',
  },
  messageLifeDays: {
    default: 30,
    min: 1,
    max: 3650,
    setting: 'LIMIT_MESSAGE_LIFE_DAYS',
    means: 'how long an undelivered message is kept',
  },
  sentIdDays: {
    default: 90,
    min: 90,
    max: 3650,
    setting: 'LIMIT_SENT_ID_DAYS',
    means: 'how long a repeated message id is recognised',
  },
  sentIdsPerDay: {
    default: 20_000,
    min: 100,
    max: 100_000_000,
    setting: 'LIMIT_SENT_IDS_PER_DAY',
    means: 'new message ids of one account in a day, by UTC; each is remembered as long',
  },
  friends: {
    default: 5000,
    min: 1,
    max: 1_000_000,
    setting: 'LIMIT_FRIENDS',
    means: 'friends, sent requests and blocks of one account, each',
  },
  friendRequests: {
    default: 1000,
    min: 1,
    max: 1_000_000,
    setting: 'LIMIT_FRIEND_REQUESTS',
    means: 'received friend requests of one account that wait for its answer',
  },
  rejectionDays: {
    default: 30,
    min: 1,
    max: 3650,
    setting: 'LIMIT_REJECTION_DAYS',
    means: 'how long a rejected or removed request stays rejected when it is sent again',
  },
  channelSeats: {
    default: 3,
    min: 0,
    max: 100_000,
    setting: 'LIMIT_CHANNEL_SEATS',
    means: 'channels an account can have without buying seats',
  },
  subscriptions: {
    default: 1000,
    min: 1,
    max: 100_000,
    setting: 'LIMIT_SUBSCRIPTIONS',
    means: 'channels one account is subscribed to',
  },
  channelPosts: {
    default: 10_000,
    min: 10,
    max: 10_000_000,
    setting: 'LIMIT_CHANNEL_POSTS',
    means: 'posts kept per channel; new ones replace the oldest',
  },
  channelBytes: {
    default: 128 * MIB,
    min: MIB,
    max: 1024 * 1024 * MIB,
    setting: 'LIMIT_CHANNEL_BYTES',
    means: 'posts of all channels of one account, in UTF-8',
  },
  postBytes: {
    default: POST_BYTES,
    min: 256,
    max: POST_BYTES,
    setting: 'LIMIT_POST_BYTES',
    means: '`content` of one post, in UTF-8',
  },
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
  pendingOrders: {
    default: 3,
    min: 1,
    max: 1000,
    setting: 'LIMIT_PENDING_ORDERS',
    means: 'unpaid orders of one account',
  },
  orderSeconds: {
    default: 900,
    min: 10,
    max: 86_400,
    setting: 'LIMIT_ORDER_SECONDS',
    means: 'how long an order can be paid and holds its goods',
  },
  holdAgainSeconds: {
    default: 3600,
    min: 0,
    max: 604_800,
    setting: 'LIMIT_HOLD_AGAIN_SECONDS',
    means: 'how long the same party cannot hold the same thing again after an unpaid hold',
  },
  watchDays: {
    default: 30,
    min: 1,
    max: 3650,
    setting: 'LIMIT_WATCH_DAYS',
    means: 'how long an order’s address is watched for late payments',
  },
  pushSubscriptions: {
    default: 5,
    min: 1,
    max: 100,
    setting: 'LIMIT_PUSH_SUBSCRIPTIONS',
    means: 'push subscriptions of one account; a new one replaces the oldest',
  },
  pushUnconfirmedSeconds: {
    default: 5,
    min: 1,
    max: 300,
    setting: 'LIMIT_PUSH_UNCONFIRMED_SECONDS',
    means: 'how long a message may stay unconfirmed on a connection before its account is woken',
  },
  pushMessageSeconds: {
    default: 10,
    min: 1,
    max: 86_400,
    setting: 'LIMIT_PUSH_MESSAGE_SECONDS',
    means: 'minimum time between two pushes to one account for messages',
  },
  pushCallSeconds: {
    default: 5,
    min: 1,
    max: 86_400,
    setting: 'LIMIT_PUSH_CALL_SECONDS',
    means: 'minimum time between two pushes to one account for calls',
  },
  pushMessageLifeSeconds: {
    default: 604_800,
    min: 60,
    max: 2_419_200,
    setting: 'LIMIT_PUSH_MESSAGE_LIFE_SECONDS',
    means:
      'how long a push for messages is retried, and how long the push service keeps it for a device that is off',
  },
  pushCallLifeSeconds: {
    default: 45,
    min: 5,
    max: 600,
    setting: 'LIMIT_PUSH_CALL_LIFE_SECONDS',
    means: 'the same for calls',
  },
  tokenSeconds: {
    default: 86_400,
    min: 60,
    max: 31_536_000,
    setting: 'LIMIT_TOKEN_SECONDS',
    means: 'life of a token',
  },
  ticketSeconds: {
    default: 30,
    min: 5,
    max: 300,
    setting: 'LIMIT_TICKET_SECONDS',
    means: 'life of a WebSocket ticket',
  },
  challengeSeconds: {
    default: 60,
    min: 10,
    max: 600,
    setting: 'LIMIT_CHALLENGE_SECONDS',
    means: 'life of a login challenge',
  },
  powSeconds: {
    default: 300,
    min: 30,
    max: 3600,
    setting: 'LIMIT_POW_SECONDS',
    means: 'life of a proof-of-work challenge',
  },
  powDifficulty: {
    default: 4,
    min: 1,
    max: 5,
    setting: 'LIMIT_POW_DIFFICULTY',
    means: 'leading zeros (hexadecimal) a proof of work needs',
  },
  powOpen: {
    default: 1024,
    min: 1,
    max: 100_000,
    setting: 'LIMIT_POW_OPEN',
    means:
      'open challenges of one address that a nonce without its challenge is tried with; `RATE_POW` must not allow more',
  },
} as const satisfies Record<string, Limit>

/** A limit's name. */
export type LimitName = keyof typeof limits
/** The limits in force. */
export type Limits = Readonly<Record<LimitName, number>>

/** The default limits, used by tests and clients. */
export function defaultLimits(): Limits {
  const entries = Object.entries(limits).map(([name, limit]) => [name, limit.default])
  return Object.fromEntries(entries)
}
