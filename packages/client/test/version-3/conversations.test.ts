// A short run of the model of a conversation with fixed numbers: two accounts keep every promise of version
// 3, whatever is lost, repeated, restored or lied about.
import { beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { defects } from '../../../../bench/conversations/seeded-defects.ts'
import { patched } from '../../../../bench/faults/mutations.ts'
import { rounds } from '../../../protocol/test/rounds.ts'
import { accountsOfTheModel } from './accounts.ts'
import { runSchedule } from './model.ts'
import { WEATHERS } from './schedule.ts'
import { scheduleOf } from './schedules.ts'
import type { Account } from './store.ts'

setDefaultTimeout(240_000)

const FIRST = 1000
const FIRST_RICH = 400_004
/** Of each weather. Each sixth is a rich one. */
const SCHEDULES = rounds(6, 200)

let accounts: readonly [Account, Account]

beforeAll(async () => {
  accounts = await accountsOfTheModel()
})

for (const [at, weather] of WEATHERS.entries())
  test(`every message is shown once or told, and no key is used twice: ${weather}`, async () => {
    let messages = 0
    for (let i = 0; i < SCHEDULES; i++) {
      const isRich = i % 6 === 5
      const number = (isRich ? FIRST_RICH : FIRST) + at + i * WEATHERS.length
      const schedule = scheduleOf(number)
      expect([schedule.weather, schedule.isRich]).toEqual([weather, isRich])
      expect(schedule.actions.length).toBeGreaterThanOrEqual(60)
      const verdict = await runSchedule(accounts, schedule)
      expect(verdict.broken, `npm run bench -- conversations --schedules ${number} --shrink`).toEqual([])
      messages += verdict.messages
    }
    expect(messages).toBeGreaterThan(SCHEDULES * 5)
  })

test('the defects that the model must find still match the source', () => {
  expect(defects.length).toBeGreaterThanOrEqual(12)
  for (const { patches } of defects) expect(patched(patches).size).toBeGreaterThan(0)
})
