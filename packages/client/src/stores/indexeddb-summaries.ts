// The table with what a list of conversations shows, so that a list of any length is one read. A transaction
// that changes what a row is made of deletes the row. What is missing is made when a long list is read.
import { done, seqOf, startingWith } from './indexeddb-request.ts'
import type { StoreChange } from './records.ts'

/** Whether a change deletes the summary of its conversation. */
export function concernsSummary({ change }: StoreChange): boolean {
  return /^(message|read|trust)/.test(change)
}

/** If more summaries than this are read, the whole table is: a browser takes about as long for one row. */
const READ_SINGLY = 16

/** The summaries of these conversations, in their order, and those that a long list should find stored. */
export async function readSummaries(
  transaction: IDBTransaction,
  conversationIds: readonly string[],
): Promise<{ readonly found: readonly unknown[]; readonly missing: readonly string[] }> {
  const isMany = conversationIds.length > READ_SINGLY
  const all: { conversationId: string }[] = isMany
    ? await done(transaction.objectStore('summaries').getAll())
    : []
  const rows = new Map(all.map((row) => [row.conversationId, row]))
  return {
    found: await Promise.all(conversationIds.map((id) => rows.get(id) ?? summarize(transaction, id))),
    missing: isMany ? conversationIds.filter((id) => !rows.has(id)) : [],
  }
}

/** Makes the summaries of these conversations. */
export async function writeSummaries(
  transaction: IDBTransaction,
  conversationIds: Iterable<string>,
): Promise<void> {
  const summaries = transaction.objectStore('summaries')
  await Promise.all(
    Array.from(conversationIds, async (id) => done(summaries.put(await summarize(transaction, id)))),
  )
}

/**
 * Makes a `ConversationSummary` of what the other tables hold. Nothing is checked here, because an invalid
 * record would end all writing of the store. `listSummaries` checks what it returns.
 */
async function summarize(transaction: IDBTransaction, conversationId: string): Promise<object> {
  const messages = transaction.objectStore('messages')
  const received = messages.index('received')
  const [mark, trust, last] = await Promise.all([
    done(transaction.objectStore('read_marks').get(conversationId)),
    done(transaction.objectStore('trust').get(conversationId)),
    done(messages.index('order').openCursor(startingWith(conversationId), 'prev')),
  ])
  const unread = IDBKeyRange.bound([conversationId, mark?.readSeq ?? 0, []], [conversationId, []])
  const [first, count] = await Promise.all([
    done(received.openKeyCursor(unread)),
    done(received.count(unread)),
  ])
  return {
    conversationId,
    lastMessage: last?.value.message,
    unread: count,
    ...(first && { firstUnreadSeq: seqOf(first.key) }),
    trust: trust ?? { status: 'unverified' },
  }
}
