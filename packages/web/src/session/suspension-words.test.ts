import { expect, test } from 'bun:test'
import { readSuspension } from './suspension-words.ts'

const UNTIL = Date.UTC(2027, 0, 31, 12)

test('the operator’s words are read, with the end if there is one', () => {
  const cases: readonly (readonly [string, string, number | undefined])[] = [
    ['ACCOUNT_SUSPENDED: Spam in channels', 'Spam in channels', undefined],
    ['ACCOUNT_SUSPENDED: Spam (until 2027-01-31T12:00Z)', 'Spam', UNTIL],
    ['ACCOUNT_SUSPENDED: (until you ask) (until 2027-01-31T12:00Z)', '(until you ask)', UNTIL],
    ['ACCOUNT_SUSPENDED: ACCOUNT_SUSPENDED: twice', 'ACCOUNT_SUSPENDED: twice', undefined],
    ['ACCOUNT_SUSPENDED', '', undefined],
    // What no honest relay says.
    ['ACCOUNT_SUSPENDED: Spam (until 2027-99-99T99:99Z)', 'Spam (until 2027-99-99T99:99Z)', undefined],
    ['', '', undefined],
  ]
  for (const [message, reason, until] of cases) expect(readSuspension(message)).toEqual({ reason, until })
  expect(readSuspension('x'.repeat(1_000_000)).reason).toHaveLength(1000)
})
