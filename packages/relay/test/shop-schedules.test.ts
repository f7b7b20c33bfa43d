// Random schedules of a shop on a chain that reorganises, with endpoints that fail and lie, restarts and
// prices that change: in the end the books equal the chain, nothing was given away, and nothing paid is
// forgotten.
// `SCHEDULES` sets how many, `SCHEDULE_SEED` the first one.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { rounds } from '../../protocol/test/rounds.ts'
import { engines } from './engines.ts'
import { ModelChain, type ModelEndpoint, startModelEndpoint } from './model-chain.ts'
import { runSchedule } from './random-shop.ts'
import { problemsOf, type Totals } from './shop-books.ts'

const SCHEDULES = Number(process.env.SCHEDULES ?? rounds(100, 200))
const FIRST_SEED = Number(process.env.SCHEDULE_SEED ?? 1)
const STEPS = 40
const BATCH = 10

const endpoints: ModelEndpoint[] = []
beforeAll(async () => {
  for (let n = 0; n < 3; n++) endpoints.push(await startModelEndpoint(new ModelChain(0)))
})
afterAll(async () => {
  for (const endpoint of endpoints) await endpoint.stop()
})

const totals: Totals = { confirmed: 0, expired: 0, late: 0, lost: 0, refunds: 0, longHolds: 0 }

for (let first = 0; first < SCHEDULES; first += BATCH) {
  const seeds = Array.from({ length: Math.min(BATCH, SCHEDULES - first) }, (_, n) => FIRST_SEED + first + n)
  test(`after the schedules ${seeds[0]} to ${seeds.at(-1)} the books equal the chain`, async () => {
    const [sqlite] = engines
    if (!sqlite) throw new Error('there is no engine')
    for (const seed of seeds) {
      const store = await sqlite.open()
      try {
        const left = await runSchedule(store.storage, endpoints, {
          ...{ seed, steps: STEPS, lies: true },
          // With and without MANUAL_HOLD_HOURS.
          holdHours: seed % 2,
        })
        expect({ seed, problems: problemsOf(left, totals) }).toEqual({ seed, problems: [] })
      } finally {
        await store.remove()
      }
    }
  }, 600_000)
}

test('the schedules reach what they are for', () => {
  expect(Object.values(totals).every((count) => count > 0 || SCHEDULES < 100)).toBe(true)
})
