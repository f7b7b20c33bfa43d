// Puts calls that belong together in one row of the log.
import type { CallRecord } from '@sotto/client'
import { isSameDay } from '../../texts/dates.ts'

/** Calls with one contact, one after the other, on the same day, of the same kind: the latest first. */
export interface CallGroup {
  readonly latest: CallRecord
  readonly count: number
}

/** Groups the log, which has the latest call first. */
export function groupsOf(calls: readonly CallRecord[]): readonly CallGroup[] {
  const groups: CallGroup[] = []
  for (const call of calls) {
    const group = groups.at(-1)
    if (group && belongs(call, group.latest)) groups[groups.length - 1] = { ...group, count: group.count + 1 }
    else groups.push({ latest: call, count: 1 })
  }
  return groups
}

function belongs(call: CallRecord, latest: CallRecord): boolean {
  return (
    call.conversationId === latest.conversationId &&
    call.isCaller === latest.isCaller &&
    call.missed === latest.missed &&
    isSameDay(call.startedAt, latest.startedAt)
  )
}
