// Limits of friend lists.
import type { Limit } from './limit.ts'

export const friendLimits = {
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
  unlistedSeconds: {
    default: 30,
    min: 0,
    max: 300,
    setting: 'LIMIT_UNLISTED_SECONDS',
    means:
      'how long an older client’s first messages of a conversation wait for its friend list, after the acceptance and after connecting',
  },
  listedSeconds: {
    default: 1,
    min: 0,
    max: 60,
    setting: 'LIMIT_LISTED_SECONDS',
    means: 'how long an older client gets to read its friend list before those messages',
  },
  rejectionDays: {
    default: 30,
    min: 1,
    max: 3650,
    setting: 'LIMIT_REJECTION_DAYS',
    means: 'how long a rejected or removed request stays rejected when it is sent again',
  },
} as const satisfies Record<string, Limit>
