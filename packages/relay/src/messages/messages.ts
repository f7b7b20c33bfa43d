// Messaging as the rest of the relay knows it: how it is put together, and what friendship does to conversations.
import type { Limits } from '@sotto/protocol'
import type { Bus } from '../cluster/bus.ts'
import type { Handlers } from '../listener/route.ts'
import type { Clock } from '../operations/clock.ts'
import type { Log } from '../operations/log.ts'
import type { Storage } from '../storage/storage.ts'
import { listActiveConversations } from './conversations.ts'
import { Deliveries } from './deliveries.ts'
import { Expiry } from './expiry.ts'
import { messageFrames } from './frames.ts'
import { GroupCommit } from './group-commit.ts'
import { MailboxReader } from './mailbox-reader.ts'
import type { BatchStore } from './page.ts'
import { createPostgresBatchStore } from './postgres-batch-store.ts'
import { createSqliteBatchStore } from './sqlite-batch-store.ts'

export { closeConversation, eraseMailbox, moveSequencesAhead, openConversation } from './conversations.ts'
export { resumeExpiry } from './expiry.ts'
export { addNotice } from './notices.ts'

/** Puts messaging together. */
export function createMessages(parts: {
  storage: Storage
  bus: Bus
  clock: Clock
  limits: Limits
  log: Log
}) {
  const { storage, bus, limits } = parts
  const deliveries = new Deliveries({ ...parts, reader: new MailboxReader(storage) })
  const lookAgain = (): void => deliveries.lookAgain()
  const commits = new GroupCommit({ ...parts, store: createBatchStore(storage), lookAgain })
  return {
    frames: messageFrames({ storage, commits, deliveries, bus, limits }),
    routes: messageRoutes(storage),
    follower: deliveries,
    expiry: new Expiry(parts),
    /** Resolves once everything that was taken in is committed and answered. */
    settle: async (): Promise<void> => {
      await commits.idle()
      // The last answers leave in the turn of the event loop that follows their commit.
      await new Promise((resolve) => setImmediate(resolve))
      await deliveries.stop()
    },
  }
}

/** The mailbox's hot path for the engine in use. */
export function createBatchStore(storage: Storage): BatchStore {
  const { engine } = storage
  return engine.dialect === 'sqlite' ? createSqliteBatchStore(engine) : createPostgresBatchStore(storage)
}

function messageRoutes(storage: Storage): Handlers<'activeConversations'> {
  return {
    activeConversations: async ({ caller }) => ({
      conversations: await listActiveConversations(storage.sql, caller.id),
    }),
  }
}
