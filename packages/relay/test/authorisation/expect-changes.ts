// What a request or a frame of one account may change of another account's.
import { expect } from 'bun:test'
import { changedRows, ownerTest, type StoreContents } from './store-contents.ts'

/** The tables of what two accounts have together; a mailbox counts what waits for one of them. */
export const PAIR_TABLES = [
  ...['friendships', 'blocks', 'conversations', 'lanes', 'messages', 'sent_ids'],
  ...['mailboxes', 'group_infos'],
]

/** The store before and after, and the uuids of the two accounts. */
export interface Change {
  readonly before: StoreContents
  readonly after: StoreContents
  readonly owner: string
  readonly caller: string
}

/** Expects that nothing was added, removed or changed. */
export function expectNoChange({ before, after }: Pick<Change, 'before' | 'after'>): void {
  expect(changedRows(before, after).map(({ text }) => text)).toEqual([])
}

/** Expects that something of the owner changed. */
export function expectOwnersChange(change: Omit<Change, 'caller'>): void {
  expect(ownersRows(change)).not.toEqual([])
}

/**
 * Expects the owner's rows to have changed only in these tables. Of the rows of pairs, only those of the
 * owner and the caller may have changed.
 */
export function expectChangesOnlyIn(tables: readonly string[], change: Change): void {
  const { before, after, caller } = change
  const isCallers = eitherTest({ before, after }, caller)
  const wrong = ownersRows(change).filter((row) => {
    const isOfOthers = PAIR_TABLES.includes(row.table) && row.table !== 'mailboxes' && !isCallers(row)
    return isOfOthers || !tables.includes(row.table)
  })
  expect(wrong.map(({ text }) => text)).toEqual([])
}

function ownersRows({ before, after, owner }: Omit<Change, 'caller'>) {
  return changedRows(before, after).filter(eitherTest({ before, after }, owner))
}

function eitherTest({ before, after }: Pick<Change, 'before' | 'after'>, uuid: string) {
  const [was, is] = [ownerTest(before, uuid), ownerTest(after, uuid)]
  return (row: StoreContents[number]): boolean => was(row) || is(row)
}
