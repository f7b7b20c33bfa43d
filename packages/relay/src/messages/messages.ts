// The public file of messaging: creates its parts, and exports what other features call.
import type { Limits } from '@sotto/protocol'
import type { Bus } from '../cluster/bus.ts'
import type { Handlers } from '../listener/route.ts'
import type { Clock } from '../operations/clock.ts'
import type { RoomForMessages } from '../operations/disk-space.ts'
import type { Log } from '../operations/log.ts'
import type { RelayMetrics } from '../operations/relay-metrics.ts'
import type { Storage } from '../storage/storage.ts'
import type { BatchStore } from './batch-store.ts'
import { listActiveConversations } from './conversations.ts'
import { Deliveries } from './deliveries.ts'
import { Expiry } from './expiry.ts'
import { messageFrames } from './frames.ts'
import { FriendListReplies } from './friend-list-replies.ts'
import { GroupCommit } from './group-commit.ts'
import { findGroup } from './groups.ts'
import { MailboxReader } from './mailbox-reader.ts'
import { createPostgresBatchStore } from './postgres-batch-store.ts'
import { SentIdCounts } from './sent-id-counts.ts'
import { createSqliteBatchStore } from './sqlite-batch-store.ts'
import { withdrawMessages } from './withdrawal.ts'

export {
  closeConversation,
  listWaitingOf,
  moveSequencesAhead,
  openConversation,
} from './conversations.ts'
export { eraseMailbox } from './erase-mailbox.ts'
export type { FriendListReplies } from './friend-list-replies.ts'
export { addNotice, releaseNotices } from './notices.ts'

export function createMessages(parts: {
  storage: Storage
  bus: Bus
  clock: Clock
  limits: Limits
  log: Log
  space: RoomForMessages
  metrics: RelayMetrics
  /** See {@link DeliveryParts}. */
  incarnation: string
}) {
  const { storage, bus, limits } = parts
  const deliveries = new Deliveries({ ...parts, reader: new MailboxReader(storage) })
  const friendListReplies = new FriendListReplies(parts)
  // What was stored without an answer may be for connections of any node.
  const onRecovered = (): void => {
    deliveries.readAllMailboxes()
    bus.letOthersLook()
  }
  const sentIdCounts = new SentIdCounts(parts)
  const commits = new GroupCommit({ ...parts, store: createBatchStore(storage), sentIdCounts, onRecovered })
  return {
    frames: messageFrames({ storage, commits, deliveries, bus, limits }),
    routes: messageRoutes(parts),
    follower: deliveries,
    expiry: new Expiry(parts),
    /** See {@link Deliveries.releaseLifted}. */
    releaseLifted: () => deliveries.releaseLifted(),
    sentIdCounts,
    friendListReplies,
    /** The frames that wait for their commit. */
    waiting: commits as Pick<GroupCommit, 'waitingFrames' | 'waitingBytes'>,
    /** Resolves once every accepted frame is committed and answered. */
    settle: async (): Promise<void> => {
      await commits.idle()
      // The last answers are sent in the tick of the event loop after their commit.
      await new Promise((resolve) => setImmediate(resolve))
      await deliveries.stop()
      await friendListReplies.stop()
      await sentIdCounts.save().catch((error) => parts.log.error('sent_id_counts_failed', { error }))
    },
  }
}

/** The batch store for the engine in use. */
export function createBatchStore(storage: Storage): BatchStore {
  const { engine } = storage
  return engine.dialect === 'sqlite' ? createSqliteBatchStore(engine) : createPostgresBatchStore(engine)
}

function messageRoutes(
  parts: Parameters<typeof withdrawMessages>[0],
): Handlers<'activeConversations' | 'conversationGroup' | 'withdrawMessages'> {
  const { storage } = parts
  return {
    activeConversations: async ({ caller }) => ({
      conversations: await listActiveConversations(storage.sql, caller.id),
    }),

    conversationGroup: ({ caller, params }) => findGroup(storage.sql, caller.id, params.conv_id),

    withdrawMessages: ({ caller, params }) => withdrawMessages(parts, caller.id, params.conv_id),
  }
}
