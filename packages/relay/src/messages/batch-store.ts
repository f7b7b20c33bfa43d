// The interface that commits a batch: reads its rows and writes what it changed. Each engine has its own
// implementation.
import type { AliasId, ConversationId } from '@sotto/protocol'
import type { AccountId } from '../storage/storage.ts'
import type { Batch, Operation } from './batch.ts'
import type { BatchRows } from './batch-rows.ts'

/** The mailbox's hot path on one engine. */
export interface BatchStore {
  /**
   * Runs one transaction: passes its rows to `work`, writes what the batch changed, and resolves once that is
   * on stable storage. The engine may run `work` again, each time on rows that it has read again.
   * @param operations what `work` applies, for an engine that reads all rows in advance
   */
  commit(operations: readonly Operation[], work: (rows: BatchRows) => Batch): Promise<Batch>
}

/** The keys of the rows that the operations of a batch need. */
export interface BatchKeys {
  readonly conversations: ReadonlySet<ConversationId>
  readonly sentIds: readonly { readonly sender: AccountId; readonly id: string }[]
  /** The accounts whose newest connections are asked for. */
  readonly connected: ReadonlySet<AccountId>
  readonly addressed: readonly { readonly sender: AccountId; readonly alias: AliasId }[]
}

/** Finds the keys of the rows that these operations need. */
export function keysOf(operations: readonly Operation[]): BatchKeys {
  return {
    conversations: new Set(operations.map(({ frame }) => frame.conv_id)),
    sentIds: operations.flatMap(sentIdsOf),
    connected: new Set(operations.flatMap(({ account, epoch }) => (epoch === undefined ? [] : [account]))),
    addressed: operations.flatMap((operation) =>
      operation.kind === 'receipt' ? [] : [{ sender: operation.account, alias: operation.frame.to }],
    ),
  }
}

function sentIdsOf(operation: Operation): BatchKeys['sentIds'] {
  if (operation.kind === 'receipt') return []
  const { account: sender, frame } = operation
  const after = frame.type === 'msg' ? frame.after : undefined
  return [frame.id, after].flatMap((id) => (id === undefined ? [] : [{ sender, id }]))
}
