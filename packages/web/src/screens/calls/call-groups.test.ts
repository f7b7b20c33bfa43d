// Which calls share a row of the log.
import { expect, test } from 'bun:test'
import type { CallRecord } from '@sotto/client'
import { groupsOf } from './call-groups.ts'

const today = new Date(2026, 10, 23, 12).getTime()
let made = 0

function call(changes: Partial<CallRecord>): CallRecord {
  made += 1
  const usual = {
    conversationId: 'with-bob',
    isCaller: false,
    startedAt: today,
    end: 'unanswered',
    missed: true,
  }
  return { id: `call-${made}`, ...usual, ...changes }
}

test('calls of one kind with one contact on one day are one row, which shows the latest', () => {
  const log = [
    call({ startedAt: today }),
    call({ startedAt: today - 60_000 }),
    call({ startedAt: today - 120_000 }),
  ]
  expect(groupsOf(log)).toEqual([{ latest: log[0], count: 3 }] as never)
})

test.each([
  ['another contact', { conversationId: 'with-eve' }],
  ['the other direction', { isCaller: true }],
  ['a call that was not missed', { missed: false }],
  ['another day', { startedAt: today - 86_400_000 }],
])('%s begins another row', (_what, changes) => {
  const groups = groupsOf([call({}), call(changes), call({})])
  expect(groups.map(({ count }) => count)).toEqual([1, 1, 1])
})

test('an empty log has no rows', () => {
  expect(groupsOf([])).toEqual([])
})
