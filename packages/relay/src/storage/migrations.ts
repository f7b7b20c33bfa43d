// The list of schema migrations. A released migration is never edited; changes are added as a new one.
import { acmeChallenges } from './migrations/acme-challenges.ts'
import { busyTables } from './migrations/busy-tables.ts'
import { certificates } from './migrations/certificates.ts'
import { chains } from './migrations/chains.ts'
import { channelPurges } from './migrations/channel-purges.ts'
import { channelSearch } from './migrations/channel-search.ts'
import { channels } from './migrations/channels.ts'
import { cleanNames } from './migrations/clean-names.ts'
import { closedChannels } from './migrations/closed-channels.ts'
import { connections } from './migrations/connections.ts'
import { dayFigures } from './migrations/day-figures.ts'
import { epochs } from './migrations/epochs.ts'
import { foundation } from './migrations/foundation.ts'
import { friendRequests } from './migrations/friend-requests.ts'
import { invites } from './migrations/invites.ts'
import { keptNotices } from './migrations/kept-notices.ts'
import { keyPackages } from './migrations/key-packages.ts'
import { leases } from './migrations/leases.ts'
import { logouts } from './migrations/logouts.ts'
import { longHolds } from './migrations/long-holds.ts'
import { lostPayments } from './migrations/lost-payments.ts'
import { media } from './migrations/media.ts'
import { mediaCounting } from './migrations/media-counting.ts'
import { mediaTotal } from './migrations/media-total.ts'
import type { Migration } from './migrations/migration.ts'
import { moderation } from './migrations/moderation.ts'
import { nodes } from './migrations/nodes.ts'
import { orderDestinations } from './migrations/order-destinations.ts'
import { payments } from './migrations/payments.ts'
import { postBytes } from './migrations/post-bytes.ts'
import { purgePages } from './migrations/purge-pages.ts'
import { purges } from './migrations/purges.ts'
import { push } from './migrations/push.ts'
import { reports } from './migrations/reports.ts'
import { reserves } from './migrations/reserves.ts'
import { retractions } from './migrations/retractions.ts'
import { sentIdCounts } from './migrations/sent-id-counts.ts'
import { toldMarks } from './migrations/told-marks.ts'
import { unlistedLanes } from './migrations/unlisted-lanes.ts'
import { version3Marks } from './migrations/version-3-marks.ts'

/**
 * Migrations after which relays that do not know them still work on the store, so that an upgrade can go
 * back. They add what older relays do not read and need not write. All others have no way back.
 */
const additive: ReadonlySet<Migration> = new Set([
  longHolds,
  leases,
  connections,
  busyTables,
  acmeChallenges,
  nodes,
  certificates,
  keyPackages,
  epochs,
  version3Marks,
])

/** Every migration from an empty store to this relay's schema, oldest first. */
export const migrations: readonly Migration[] = [
  foundation,
  channels,
  payments,
  push,
  media,
  retractions,
  reserves,
  cleanNames,
  sentIdCounts,
  logouts,
  purges,
  mediaCounting,
  friendRequests,
  channelSearch,
  postBytes,
  mediaTotal,
  channelPurges,
  purgePages,
  keptNotices,
  orderDestinations,
  toldMarks,
  unlistedLanes,
  lostPayments,
  chains,
  invites,
  dayFigures,
  moderation,
  closedChannels,
  reports,
  longHolds,
  leases,
  connections,
  busyTables,
  acmeChallenges,
  nodes,
  certificates,
  keyPackages,
  epochs,
  version3Marks,
]

/** The schema of this relay: how many migrations its store has. */
export const schema = migrations.length

/** The oldest schema whose relays work on a store of this relay. */
export const oldestSchema = migrations.findLastIndex((migration) => !additive.has(migration)) + 1
