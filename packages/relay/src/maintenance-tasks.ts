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
import { forgetNodes } from './cluster/node-list.ts'
import { forgetRejections } from './friends/friends.ts'
import type { Gateway } from './gateway/gateway.ts'
import { sweepKeyPackages } from './key-packages/key-packages.ts'
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
import type { ReserveRate } from './vanity/vanity.ts'

/** The parts that tasks belong to. */
export interface MaintainedParts {
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
  const { clock, clockTrust, durability, logoutWatch, keyRings, deletion, limits } = parts
  const { channels, messages, media, payments } = parts
  const { reserveRate, push, calls, gateway, rates, certificates, adminPage, figures } = parts
  return [
    // Only begins it: an order takes longer than a pass may.
    { name: 'certificate', run: async () => certificates?.maintain() },
    // Early, so that it runs at the same moment of each minute.
    { name: 'figures', run: () => figures.write() },
    { name: 'durability', run: () => durability.run() },
    { name: 'logouts', run: () => logoutWatch.check() },
    { name: 'keys', run: () => keyRings.check() },
    { name: 'sent id counts', run: () => messages.sentIdCounts.save() },
    { name: 'proof of work', run: async () => parts.difficulty.look() },
    { name: 'withheld messages', run: () => messages.releaseLifted() },
    { name: 'push', run: ({ signal }) => push.sweep(signal) },
    { name: 'request rates', run: () => rates.dropUnused() },
    { name: 'offers', run: () => calls.eraseExpiredOffers() },
    { name: 'frame rates', run: () => gateway.dropUnusedRates() },
    { name: 'security log', run: () => parts.securityLog.sweep() },
    { name: 'admin page', run: () => adminPage.closeUnneeded() },
    ...[
      expiring('old keys', ({ storage }) =>
        keyRings.deleteUnused(
          {
            token: limits.tokenSeconds * 1000,
            challenge: limits.challengeSeconds * 1000,
            media: limits.mediaLinkSeconds * 1000,
          },
          storage,
        ),
      ),
      expiring('expiry', (work) => messages.expiry.sweep(work)),
      // Also deletes the records of revoked tokens, which must not happen before those tokens expire.
      expiring('accounts', ({ storage }) => purgeExpired(storage, clock.now())),
      expiring('key packages', (work) => sweepKeyPackages(work, clock.now())),
      expiring('invites', ({ storage }) => eraseEndedInvites({ ...parts, storage })),
      expiring('reports', ({ storage }) => eraseOldReports({ ...parts, storage })),
      expiring('suspensions', ({ storage }) => liftEnded({ ...parts, storage })),
      expiring('rejections', ({ storage }) => forgetRejections(storage, parts)),
      expiring('orders', ({ storage }) => payments.forgetParties(storage)),
      expiring('reserves', ({ storage }) => reserveRate.eraseOld(storage)),
    ],
    // Without a trusted clock it still removes deleted blobs, but nothing expires.
    { name: 'media', onOneNode: true, run: async (work) => media.sweep(work, await clockTrust.isTrusted()) },
    { name: 'nodes', onOneNode: true, run: ({ storage }) => forgetNodes(storage) },
    { name: 'deleted accounts', onOneNode: true, run: () => deletion.resume() },
    { name: 'deleted channels', onOneNode: true, run: () => channels.purges.resume() },
  ]
}

/** A task that makes things expire, for all nodes. */
function expiring(name: string, run: MaintenanceTask['run']): MaintenanceTask {
  return { name, needsTrustedClock: true, onOneNode: true, run }
}
