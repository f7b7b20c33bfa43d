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
  rejectionDays: {
    default: 30,
    min: 1,
    max: 3650,
    setting: 'LIMIT_REJECTION_DAYS',
    means: 'how long a rejected or removed request stays rejected when it is sent again',
  },
} as const satisfies Record<string, Limit>
