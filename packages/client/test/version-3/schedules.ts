// Schedules by number, with fast-check: the same number always gives the same one.
import fc from 'fast-check'
import { type Action, type Schedule, WEATHERS, type Weather } from './model.ts'

/** A schedule has at least so many steps. */
const LEAST_STEPS = 60
const MOST_STEPS = 90

/** How often each thing is done, besides what every weather has. */
const CALM: Readonly<Partial<Record<Action['act'], number>>> = {
  write: 12,
  run: 30,
  serve: 8,
  handle: 8,
  connect: 3,
  cut: 3,
  crash: 4,
  tick: 4,
  jump: 3,
}
const LOSSES: Readonly<Partial<Record<Action['act'], number>>> = {
  wipe: 2,
  copy: 2,
  restore_copy: 2,
  second_device: 1,
  back_up: 1,
  restore_relay: 1,
  word: 3,
}
const LIES: Readonly<Partial<Record<Action['act'], number>>> = { lie: 6, word: 3 }

const WEIGHTS: Readonly<Record<Weather, Readonly<Partial<Record<Action['act'], number>>>>> = {
  honest: CALM,
  losses: { ...CALM, ...LOSSES },
  lies: { ...CALM, ...LIES },
  all: { ...CALM, ...LOSSES, ...LIES },
}

/** Any schedule of a weather. */
function schedules(weather: Weather): fc.Arbitrary<Schedule> {
  const weighted = Object.entries(WEIGHTS[weather]) as [Action['act'], number][]
  const acts = fc.oneof(...weighted.map(([act, weight]) => ({ arbitrary: fc.constant(act), weight })))
  const action = fc.record({ act: acts, who: fc.nat(11), how: fc.nat(59) })
  const actions = fc.array(action, { minLength: LEAST_STEPS, maxLength: MOST_STEPS })
  return actions.map((each) => ({ weather, actions: each }))
}

/** The schedule of a number. Four numbers in a row have the four weathers. */
export function scheduleOf(number: number): Schedule {
  const weather = WEATHERS[number % WEATHERS.length] ?? 'honest'
  const [schedule] = fc.sample(schedules(weather), { seed: number, numRuns: 1 })
  if (!schedule) throw new Error('fast-check made no schedule')
  return schedule
}
