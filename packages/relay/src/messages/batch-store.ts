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
  /** The mailboxes that may change: an account's own one, or that of its peer in the conversation. */
  readonly mailboxes: readonly (InConversation & { readonly isPeers: boolean })[]
  readonly sentIds: readonly { readonly sender: AccountId; readonly id: string }[]
  /** Ids to look for among those of the account's peer in the conversation. */
  readonly peersIds: readonly (InConversation & { readonly id: string })[]
  /** The accounts whose newest connections are asked for. */
  readonly connected: ReadonlySet<AccountId>
  readonly addressed: readonly { readonly sender: AccountId; readonly alias: AliasId }[]
  /** The conversations with handshakes, each with the account that sent them. */
  readonly handshakes: readonly InConversation[]
  /** The conversations with receipts by clients that do not read `crypto_v` 3, each with their account. */
  readonly olderReaders: readonly InConversation[]
}

interface InConversation {
  readonly convId: ConversationId
  readonly account: AccountId
}

/** Finds the keys of the rows that these operations need, each of them once. */
export function keysOf(operations: readonly Operation[]): BatchKeys {
  const mailboxes = new Map<string, BatchKeys['mailboxes'][number]>()
  const sentIds = new Map<string, BatchKeys['sentIds'][number]>()
  const peersIds = new Map<string, BatchKeys['peersIds'][number]>()
  const addressed = new Map<string, BatchKeys['addressed'][number]>()
  const handshakes = new Map<string, InConversation>()
  const olderReaders = new Map<string, InConversation>()
  for (const operation of operations) {
    const { kind, account, frame } = operation
    const convId = frame.conv_id
    const isPeers = kind !== 'receipt'
    mailboxes.set(`${convId} ${account} ${isPeers}`, { convId, account, isPeers })
    if (kind === 'receipt') {
      if (!operation.readsVersion3) olderReaders.set(`${convId} ${account}`, { convId, account })
      continue
    }
    addressed.set(`${account} ${frame.to}`, { sender: account, alias: frame.to })
    sentIds.set(`${account} ${frame.id}`, { sender: account, id: frame.id })
    if (kind === 'retract')
      peersIds.set(`${account} ${convId} ${frame.id}`, { convId, account, id: frame.id })
    else {
      if (frame.after !== undefined)
        sentIds.set(`${account} ${frame.after}`, { sender: account, id: frame.after })
      if (frame.group_info !== undefined) handshakes.set(`${convId} ${account}`, { convId, account })
    }
  }
  return {
    conversations: new Set(operations.map(({ frame }) => frame.conv_id)),
    mailboxes: [...mailboxes.values()],
    sentIds: [...sentIds.values()],
    peersIds: [...peersIds.values()],
    connected: new Set(operations.flatMap(({ account, epoch }) => (epoch === undefined ? [] : [account]))),
    addressed: [...addressed.values()],
    handshakes: [...handshakes.values()],
    olderReaders: [...olderReaders.values()],
  }
}
