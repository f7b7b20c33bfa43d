// Push as the rest of the relay uses it: its endpoints, who is woken and when, and deleting an account's
// data.
import type { Limits } from '@sotto/protocol'
import type { Bus } from '../cluster/bus.ts'
import type { ConnectionFollower } from '../gateway/frame-handlers.ts'
import type { Clock } from '../operations/clock.ts'
import type { Log } from '../operations/log.ts'
import type { RandomBytes } from '../operations/random.ts'
import type { RelayMetrics } from '../operations/relay-metrics.ts'
import type { AccountId, Storage } from '../storage/storage.ts'
import { Fcm } from './fcm.ts'
import type { PushConfig } from './push-config.ts'
import { type Network, PushEndpointRequests, systemNetwork } from './push-endpoint-requests.ts'
import type { PushService } from './push-service.ts'
import { pushRoutes } from './routes.ts'
import { Sender } from './sender.ts'
import { Vapid, type VapidKeys } from './vapid.ts'
import { WakeDecisions } from './wake-decisions.ts'
import { WebPush } from './web-push.ts'

export { generatePrivateKey as makeVapidSecret } from './p256.ts'
export { countSubscriptions, erasePush } from './subscriptions.ts'

/** The parts that push is built from. */
export interface PushParts {
  readonly storage: Storage
  readonly bus: Bus
  readonly clock: Clock
  readonly randomBytes: RandomBytes
  readonly limits: Limits
  readonly log: Log
  readonly metrics: RelayMetrics
  readonly config: PushConfig
  /** Keys on P-256, the newest first. */
  readonly vapidKeys: VapidKeys
  /** Resolves and trusts push services; the system's resolver and authorities by default. */
  readonly network?: Network
}

/** Builds push. @throws SettingError if a setting names a file that cannot be used */
export function createPush(parts: PushParts) {
  const { config, clock, vapidKeys: keys } = parts
  const vapid = new Vapid({ keys, subject: config.subject, clock })
  const endpointRequests = new PushEndpointRequests({
    allowed: config.allowed,
    network: parts.network ?? systemNetwork,
  })
  const fcm = config.fcm && new Fcm(config.fcm, parts)
  const services = { web: new WebPush({ ...parts, endpointRequests, vapid }), fcm: fcm ?? notSetUp }
  const sender = new Sender({ ...parts, services })
  const wakeDecisions = new WakeDecisions({ ...parts, queued: () => sender.checkQueue() })
  const fcmHost = config.fcm && new URL(config.fcm.apiUrl).hostname
  const follower: ConnectionFollower = wakeDecisions
  return {
    routes: pushRoutes({ ...parts, vapid, endpointRequests, wakeDecisions, fcmHost }),
    follower,
    /** Wakes an account for a call: immediately, but not more often than the limit allows. */
    wakeForCall: (account: AccountId): void => wakeDecisions.wakeForCall(account),
    /** Finds accounts that were not woken for their messages. */
    sweep: (signal: AbortSignal) => wakeDecisions.sweep(signal),
    start: async (): Promise<void> => {
      await wakeDecisions.start()
      sender.start()
    },
    stop: async (): Promise<void> => {
      await wakeDecisions.stop()
      await sender.stop()
    },
  }
}

// Devices that registered while FCM was set up are kept for a week, like those of a service that fails.
const notSetUp: PushService = {
  send: async () => ({ kind: 'later', reason: 'FCM_SERVICE_ACCOUNT is not set' }),
}
