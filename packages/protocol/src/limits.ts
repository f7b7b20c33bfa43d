// Every size, count and lifetime of the relay, in one table for configuration and documents. Rates are in
// rates.ts.
import { accountLimits } from './limits/accounts.ts'
import { callLimits } from './limits/calls.ts'
import { channelLimits } from './limits/channels.ts'
import { connectionLimits } from './limits/connections.ts'
import { friendLimits } from './limits/friends.ts'
import { keyPackageLimits } from './limits/key-packages.ts'
import { mediaLimits } from './limits/media.ts'
import { messageLimits } from './limits/messages.ts'
import { orderLimits } from './limits/payments.ts'
import { pushLimits } from './limits/push.ts'

/** Sizes, counts and lifetimes. The unit is in the name. */
export const limits = {
  ...connectionLimits,
  ...messageLimits,
  ...friendLimits,
  ...keyPackageLimits,
  ...channelLimits,
  ...callLimits,
  ...mediaLimits,
  ...orderLimits,
  ...pushLimits,
  ...accountLimits,
} as const

/** A limit's name. */
export type LimitName = keyof typeof limits
/** The limits in force. */
export type Limits = Readonly<Record<LimitName, number>>

/** The default limits, used by tests and clients. */
export function defaultLimits(): Limits {
  const entries = Object.entries(limits).map(([name, limit]) => [name, limit.default])
  return Object.fromEntries(entries)
}
