// Push as the rest of the relay knows it: its endpoints, whom it wakes and when, and what goes with an account.
import type { Limits } from '@sotto/protocol'
import type { Bus } from '../cluster/bus.ts'
import type { ConnectionFollower } from '../gateway/frame-handlers.ts'
import type { Clock } from '../operations/clock.ts'
import type { Log } from '../operations/log.ts'
import type { RandomBytes } from '../operations/random.ts'
import type { AccountId, Storage } from '../storage/storage.ts'
import { Endpoints, type Network, systemNetwork } from './endpoints.ts'
import { Fcm } from './fcm.ts'
import type { PushConfig } from './push-config.ts'
import type { PushService } from './push-service.ts'
import { pushRoutes } from './routes.ts'
import { Sender } from './sender.ts'
import { Vapid, type VapidKey } from './vapid.ts'
import { Wakes } from './wakes.ts'
import { WebPush } from './web-push.ts'

export { generatePrivateKey as makeVapidSecret } from './p256.ts'
export { erasePush } from './subscriptions.ts'

/** What push is put together from. */
export interface PushParts {
  readonly storage: Storage
  readonly bus: Bus
  readonly clock: Clock
  readonly randomBytes: RandomBytes
  readonly limits: Limits
  readonly log: Log
  readonly config: PushConfig
  /** Keys on P-256, the newest first. */
  readonly vapidKeys: readonly [VapidKey, ...VapidKey[]]
  /** How push services are found and believed; the system's way where there is none. */
  readonly network?: Network
}

/** Puts push together. @throws SettingError where a setting names a file that cannot be used */
export function createPush(parts: PushParts) {
  const { config, clock, vapidKeys: keys } = parts
  const vapid = new Vapid({ keys, subject: config.subject, clock })
  const endpoints = new Endpoints({ allowed: config.allowed, network: parts.network ?? systemNetwork })
  const fcm = config.fcm && new Fcm(config.fcm, parts)
  const services = { web: new WebPush({ ...parts, endpoints, vapid }), fcm: fcm ?? notSetUp }
  const sender = new Sender({ ...parts, services })
  const wakes = new Wakes({ ...parts, queued: () => sender.look() })
  const fcmHost = config.fcm && new URL(config.fcm.apiUrl).hostname
  const follower: ConnectionFollower = wakes
  return {
    routes: pushRoutes({ ...parts, vapid, endpoints, wakes, fcmHost }),
    follower,
    /** Wakes an account for a call: at once, and no more often than the limit says. */
    wakeForCall: (account: AccountId): void => wakes.wakeForCall(account),
    /** Finds wakes that were missed. */
    sweep: (signal: AbortSignal) => wakes.sweep(signal),
    start: async (): Promise<void> => {
      await wakes.start()
      sender.start()
    },
    stop: async (): Promise<void> => {
      await wakes.stop()
      await sender.stop()
    },
  }
}

// Devices that registered while it was set up are kept for a week, as those of a service that fails.
const notSetUp: PushService = {
  send: async () => ({ kind: 'later', reason: 'FCM_SERVICE_ACCOUNT is not set' }),
}
