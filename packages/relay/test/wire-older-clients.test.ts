// Published clients cannot be changed: they ignore the `seq` of receipts, handle frames concurrently, send
// everything again at each connection and drop messages that they have no session for. Here models of them
// run through random schedules. SEED and SCHEDULES choose others than these.
import { expect, test } from 'bun:test'
import { ONE_ERA } from './older-clients/moments.ts'
import { runSchedules } from './older-clients/schedule.ts'
import { TROUBLED, Trouble } from './older-clients/trouble.ts'
import { useRelay } from './use-relay.ts'

const seed = Number(process.env.SEED ?? 20_261_122)
const schedules = Number(process.env.SCHEDULES ?? 1000)
const MOST_MS = 600_000

const troubled = useRelay(TROUBLED)

test(
  `no mark is untrue, and nothing is lost or withheld for ever, in ${schedules} random schedules from seed ${seed}, while the relay is killed and messages expire`,
  async () => {
    const trouble = new Trouble(troubled.process)
    const { faulty, written, expired } = await runSchedules(troubled.url, { seed, schedules, eras: trouble })
    await trouble.stop()
    expect(faulty).toEqual([])
    // The schedules have what they are for.
    expect([written > 5 * schedules, expired > 0]).toEqual([true, true])
  },
  MOST_MS,
)

const impatient = useRelay({ LIMIT_UNLISTED_SECONDS: '1' })

test(
  'nor if clients ask for their friends so late that first messages were sent before, and go again',
  async () => {
    const few = Math.ceil(schedules / 4)
    const { faulty, dropped } = await runSchedules(impatient.url, {
      seed,
      schedules: few,
      eras: ONE_ERA,
    })
    expect(faulty).toEqual([])
    expect(dropped).toBeGreaterThan(0)
  },
  MOST_MS,
)
