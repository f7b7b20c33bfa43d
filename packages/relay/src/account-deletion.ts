// Deleting an account in all features.
import { AccountDeletion } from './accounts/deletion.ts'
import { endInvitesOf } from './admission/admission.ts'
import { endChannels, eraseChannels } from './channels/channels.ts'
import type { Bus } from './cluster/bus.ts'
import { eraseFriendships } from './friends/friends.ts'
import { eraseConnections } from './gateway/epochs.ts'
import { eraseKeyPackages } from './key-packages/key-packages.ts'
import { eraseMedia } from './media/media.ts'
import { eraseMailbox } from './messages/messages.ts'
import { eraseReportsOf, outliveMessages } from './moderation/moderation.ts'
import type { Clock } from './operations/clock.ts'
import type { Log } from './operations/log.ts'
import { eraseOrders } from './payments/payments.ts'
import { erasePush } from './push/push.ts'
import type { Storage } from './storage/storage.ts'

/** The deletion of accounts, with what every feature ends and erases. */
export function createAccountDeletion(parts: {
  storage: Storage
  bus: Bus
  clock: Clock
  log: Log
  limits: { readonly messageLifeDays: number }
}): AccountDeletion {
  const { messageLifeDays } = parts.limits
  return new AccountDeletion({
    ...parts,
    endings: [
      eraseOrders,
      endChannels,
      erasePush,
      endInvitesOf,
      eraseReportsOf,
      (sql, account, { clock }) => outliveMessages(sql, account, { clock, messageLifeDays }),
    ],
    erasers: [eraseConnections, eraseMailbox, eraseKeyPackages, eraseFriendships, eraseChannels, eraseMedia],
  })
}
