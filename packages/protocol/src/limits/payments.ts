// Limits of orders.
import type { Limit } from './limit.ts'

export const orderLimits = {
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
} as const satisfies Record<string, Limit>
