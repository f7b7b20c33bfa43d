// Limits of push.
import type { Limit } from './limit.ts'

export const pushLimits = {
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
} as const satisfies Record<string, Limit>
