// Handles the frames of messaging: sync, msg, delivered, read, typing, retract.
import { type ClientFrameOf, encodeFrame, type Limits, ProtocolError } from '@sotto/protocol'
import type { Bus } from '../cluster/bus.ts'
import type { Connection } from '../gateway/connection.ts'
import { ReplacedError } from '../gateway/epochs.ts'
import type { Answers, FrameHandlers } from '../gateway/frame-handlers.ts'
import type { Storage } from '../storage/storage.ts'
import type { Operation } from './batch.ts'
import { findPeer } from './conversations.ts'
import type { Deliveries } from './deliveries.ts'
import type { GroupCommit } from './group-commit.ts'

/** The parts that handle message frames. */
export interface MessageFrameParts {
  readonly storage: Storage
  readonly commits: GroupCommit
  readonly deliveries: Deliveries
  readonly bus: Bus
  readonly limits: Limits
}

type Names = 'sync' | 'msg' | 'delivered' | 'read' | 'typing' | 'retract'

export function messageFrames(parts: MessageFrameParts): FrameHandlers<Names> {
  const { storage, commits, deliveries, bus, limits } = parts

  // Resolves after the commit is on stable storage: no frame may be acknowledged earlier (protocol, Delivery
  // 1).
  const carryOut = async (operation: Operation, connection: Connection): Promise<Answers> => {
    if (commits.isFull) {
      connection.close('overload')
      return []
    }
    // Frames that wait here go on in their order, before any that arrives later.
    if (connection.untilEpoch) {
      await connection.untilEpoch
      if (connection.epoch === undefined) return [] // It could not begin, and closes.
    }
    const outcome = await commits.submit({ ...operation, epoch: connection.epoch })
    if ('isReplaced' in outcome) throw new ReplacedError()
    if ('refused' in outcome) throw outcome.refused
    if (outcome.acknowledged) deliveries.acknowledged(connection, outcome.acknowledged)
    if (operation.kind === 'receipt') deliveries.confirmed(connection, operation.frame.conv_id)
    return outcome.answers
  }

  const confirm = (frame: ClientFrameOf<'delivered' | 'read'>, connection: Connection): Promise<Answers> =>
    carryOut({ kind: 'receipt', account: connection.account, frame }, connection)

  return {
    sync: ({ receipts }, connection) => {
      deliveries.sync(connection, receipts)
      return undefined
    },

    msg: (frame, connection) => {
      if (frame.payload.length > limits.payloadCharacters) {
        const rule = `must be at most ${limits.payloadCharacters} characters`
        return Promise.reject(new ProtocolError('INVALID_FIELD', { field: 'payload', rule }))
      }
      return carryOut({ kind: 'append', account: connection.account, frame }, connection)
    },

    delivered: confirm,

    read: confirm,

    retract: (frame, connection) =>
      carryOut({ kind: 'retract', account: connection.account, frame }, connection),

    typing: async (frame, { account }) => {
      const found = await findPeer(storage.sql, account, frame)
      if (!found) throw new ProtocolError('NOT_FRIENDS')
      const { to, conv_id } = frame
      // May be lost: a friend's typing must not fill the connection of somebody who reads slowly.
      bus.ring(found.peer, {
        kind: 'signal',
        frame: encodeFrame({ type: 'typing', to, conv_id, from: found.from }),
      })
      return []
    },
  }
}
