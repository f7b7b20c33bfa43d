// Handles the frames of messaging: sync, msg, delivered, read, typing, retract.
import {
  type ClientFrameOf,
  EPOCH_VERSION,
  encodeFrame,
  type Limits,
  ProtocolError,
  type RelayFrame,
} from '@sotto/protocol'
import type { Bus } from '../cluster/bus.ts'
import type { Connection } from '../gateway/connection.ts'
import { ReplacedError } from '../gateway/epochs.ts'
import type { Answers, FrameHandlers } from '../gateway/frame-handlers.ts'
import type { Storage } from '../storage/storage.ts'
import type { Acknowledged, Operation } from './batch.ts'
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
    return waits(outcome.acknowledged) ? outcome.answers.map(waiting) : outcome.answers
  }

  // Only what this node knows: the store would have to be asked for each message.
  const waits = (message: Acknowledged | undefined): boolean =>
    message?.recipient !== undefined && deliveries.hasOlderClient(message.recipient)

  const confirm = (frame: ClientFrameOf<'delivered' | 'read'>, connection: Connection): Promise<Answers> => {
    const readsVersion3 = deliveries.readsVersion3(connection)
    return carryOut({ kind: 'receipt', account: connection.account, frame, readsVersion3 }, connection)
  }

  return {
    sync: (frame, connection) => {
      deliveries.sync(connection, frame)
      return undefined
    },

    msg: (frame, connection) => {
      const fault = faultIn(frame, limits)
      if (fault) return Promise.reject(new ProtocolError('INVALID_FIELD', fault))
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

// What the schema of a frame cannot say.
function faultIn(
  { crypto_v: version, payload, epoch, group_info: groupInfo }: ClientFrameOf<'msg'>,
  { payloadCharacters }: Limits,
): { field: string; rule: string } | undefined {
  for (const [field, text] of [
    ['payload', payload],
    ['group_info', groupInfo],
  ] as const)
    if (text !== undefined && text.length > payloadCharacters)
      return { field, rule: `must be at most ${payloadCharacters} characters` }
  if (version === EPOCH_VERSION)
    return epoch === undefined ? { field: 'epoch', rule: 'must be given with crypto_v 3' } : undefined
  if (epoch !== undefined) return { field: 'epoch', rule: 'must only be given with crypto_v 3' }
  if (groupInfo !== undefined) return { field: 'group_info', rule: 'must only be given with crypto_v 3' }
  return undefined
}

function waiting(answer: RelayFrame): RelayFrame {
  return answer.type === 'ack' ? { ...answer, waits: true } : answer
}
