// The periodic tasks, in the order in which each pass runs them.
import type { Limits } from '@sotto/protocol'
import type { AccountDeletion } from './accounts/deletion.ts'
import type { LogoutWatch } from './accounts/logouts.ts'
import { purgeExpired } from './accounts/purge.ts'
import type { RelayKeyRings } from './accounts/relay-keys.ts'
import type { AdminPage } from './admin/admin-page.ts'
import type { DayFigures } from './admin/day-figures.ts'
import { type Difficulty, eraseEndedInvites } from './admission/admission.ts'
import type { createCalls } from './calls/calls.ts'
import type { CertificateSource } from './certificates/certificates.ts'
import type { createChannels } from './channels/channels.ts'
import type { Bus } from './cluster/bus.ts'
import { forgetRejections } from './friends/friends.ts'
import type { Gateway } from './gateway/gateway.ts'
import type { RequestRates } from './listener/request-rates.ts'
import type { createMedia } from './media/media.ts'
import type { createMessages } from './messages/messages.ts'
import { eraseOldReports, liftEnded } from './moderation/moderation.ts'
import type { Clock } from './operations/clock.ts'
import type { ClockTrust } from './operations/clock-trust.ts'
import type { DurabilityCheck } from './operations/durability-check.ts'
import type { MaintenanceTask } from './operations/maintenance.ts'
import type { SecurityLog } from './operations/security-log.ts'
import type { createPayments } from './payments/payments.ts'
import type { createPush } from './push/push.ts'
import type { Storage } from './storage/storage.ts'
import type { ReserveRate } from './vanity/vanity.ts'

/** The parts that tasks belong to. */
export interface MaintainedParts {
  readonly storage: Storage
  readonly bus: Bus
  readonly clock: Clock
  readonly limits: Limits
  readonly clockTrust: ClockTrust
  readonly durability: DurabilityCheck
  readonly logoutWatch: LogoutWatch
  readonly difficulty: Difficulty
  readonly deletion: AccountDeletion
  readonly channels: ReturnType<typeof createChannels>
  readonly keyRings: RelayKeyRings
  readonly messages: ReturnType<typeof createMessages>
  readonly media: Awaited<ReturnType<typeof createMedia>>
  readonly payments: ReturnType<typeof createPayments>
  readonly reserveRate: ReserveRate
  readonly push: ReturnType<typeof createPush>
  readonly calls: ReturnType<typeof createCalls>
  readonly gateway: Gateway
  readonly rates: RequestRates
  readonly securityLog: SecurityLog
  /** Undefined if the relay speaks no TLS. */
  readonly certificates: CertificateSource | undefined
  readonly adminPage: AdminPage
  readonly figures: DayFigures
}

export function maintenanceTasks(parts: MaintainedParts): readonly MaintenanceTask[] {
  const { storage, clock, clockTrust, durability, logoutWatch, keyRings, deletion, limits } = parts
  const { channels, messages, media, payments } = parts
  const { reserveRate, push, calls, gateway, rates, certificates, adminPage, figures } = parts
  return [
    // Only begins it: an order takes longer than a pass may.
    { name: 'certificate', run: async () => certificates?.maintain() },
    { name: 'durability', run: () => durability.run() },
    { name: 'logouts', run: () => logoutWatch.check() },
    { name: 'keys', run: () => keyRings.check() },
    {
      name: 'old keys',
      needsTrustedClock: true,
      run: () =>
        keyRings.deleteUnused({
          token: limits.tokenSeconds * 1000,
          challenge: limits.challengeSeconds * 1000,
          media: limits.mediaLinkSeconds * 1000,
        }),
    },
    { name: 'sent id counts', run: () => messages.sentIdCounts.save() },
    { name: 'expiry', needsTrustedClock: true, run: (signal) => messages.expiry.sweep(signal) },
    // Also deletes the records of revoked tokens, which must not happen before those tokens expire.
    { name: 'accounts', needsTrustedClock: true, run: () => purgeExpired(storage, clock.now()) },
    { name: 'proof of work', run: async () => parts.difficulty.look() },
    { name: 'invites', needsTrustedClock: true, run: () => eraseEndedInvites(parts) },
    { name: 'reports', needsTrustedClock: true, run: () => eraseOldReports(parts) },
    { name: 'suspensions', needsTrustedClock: true, run: () => liftEnded(parts) },
    { name: 'withheld messages', run: () => messages.releaseLifted() },
    { name: 'deleted accounts', run: () => deletion.resume() },
    { name: 'deleted channels', run: () => channels.purges.resume() },
    { name: 'rejections', needsTrustedClock: true, run: () => forgetRejections(storage, parts) },
    // Without a trusted clock it still removes deleted blobs, but nothing expires.
    { name: 'media', run: async (signal) => media.sweep(signal, await clockTrust.isTrusted()) },
    { name: 'orders', needsTrustedClock: true, run: () => payments.forgetParties() },
    { name: 'reserves', needsTrustedClock: true, run: () => reserveRate.eraseOld() },
    { name: 'push', run: (signal) => push.sweep(signal) },
    { name: 'request rates', run: () => rates.dropUnused() },
    { name: 'offers', run: () => calls.eraseExpiredOffers() },
    { name: 'frame rates', run: () => gateway.dropUnusedRates() },
    { name: 'figures', run: () => figures.write() },
    { name: 'security log', run: () => parts.securityLog.sweep() },
    { name: 'admin page', run: () => adminPage.closeUnneeded() },
  ]
}
