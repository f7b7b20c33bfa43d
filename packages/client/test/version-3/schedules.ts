// Schedules by number, with fast-check: the same number always gives the same one.
import fc from 'fast-check'
import { episodesOf } from './episodes.ts'
import { type Action, type Schedule, WEATHERS, type Weather } from './schedule.ts'

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

type Weights = Readonly<Record<Weather, Readonly<Partial<Record<Action['act'], number>>>>>

const WEIGHTS: Weights = {
  honest: CALM,
  losses: { ...CALM, ...LOSSES },
  lies: { ...CALM, ...LIES },
  all: { ...CALM, ...LOSSES, ...LIES },
}

// What rich schedules have besides.
const RICH_CALM: Readonly<Partial<Record<Action['act'], number>>> = {
  ...CALM,
  run: 20,
  call: 4,
  peer_speaks: 1,
  send_twice: 3,
  use_this_device: 1,
  allow_rejoins: 1,
  unavailable: 3,
  unanswered: 1,
  doubtful: 2,
  repeat: 4,
  delete: 4,
}
const RICH_LOSSES: Readonly<Partial<Record<Action['act'], number>>> = {
  ...LOSSES,
  month: 1,
  refuse: 2,
  withdraw: 2,
  restore_silently: 1,
  lose_block: 2,
}
const RICH_LIES: Readonly<Partial<Record<Action['act'], number>>> = { any_lie: 6, word: 3 }

const RICH_WEIGHTS: Weights = {
  honest: RICH_CALM,
  losses: { ...RICH_CALM, ...RICH_LOSSES },
  lies: { ...RICH_CALM, ...RICH_LIES },
  all: { ...RICH_CALM, ...RICH_LOSSES, ...RICH_LIES },
}

/** How many episodes a rich schedule has. Those of an honest one are cheap. */
const EPISODES: Readonly<Record<Weather, number>> = { honest: 5, losses: 3, lies: 3, all: 3 }

/** Schedules with this number or a later one are rich. The counts of earlier ones are recorded. */
const FIRST_RICH = 400_001

/** Any schedule of a weather. */
function schedules(weather: Weather, weights: Weights): fc.Arbitrary<Schedule> {
  const weighted = Object.entries(weights[weather]) as [Action['act'], number][]
  const acts = fc.oneof(...weighted.map(([act, weight]) => ({ arbitrary: fc.constant(act), weight })))
  const action = fc.record({ act: acts, who: fc.nat(11), how: fc.nat(59) })
  const actions = fc.array(action, { minLength: LEAST_STEPS, maxLength: MOST_STEPS })
  return actions.map((each) => ({ weather, actions: each, isRich: weights === RICH_WEIGHTS }))
}

/** The schedule of a number. Four numbers in a row have the four weathers. */
export function scheduleOf(number: number): Schedule {
  const weather = WEATHERS[number % WEATHERS.length] ?? 'honest'
  const isRich = number >= FIRST_RICH
  const arbitrary = schedules(weather, isRich ? RICH_WEIGHTS : WEIGHTS)
  const [schedule] = fc.sample(arbitrary, { seed: number, numRuns: 1 })
  if (!schedule) throw new Error('fast-check made no schedule')
  return isRich ? withEpisodes(schedule, number) : schedule
}

/** In between something happens that chance would bring too seldom. */
function withEpisodes(schedule: Schedule, seed: number): Schedule {
  const { weather, actions } = schedule
  const { openings, episodes } = episodesOf(weather)
  const count = EPISODES[weather]
  const oneOf = (of: readonly (readonly Action[])[]) => fc.constantFrom(...of)
  const [chosen] = fc.sample(
    fc.tuple(oneOf(openings), fc.array(oneOf(episodes), { minLength: count, maxLength: count })),
    { seed, numRuns: 1 },
  )
  const [opening = [], middle = []] = chosen ?? []
  const length = Math.floor(actions.length / (count + 1))
  const parts = Array.from({ length: count }, (_, i) => [
    ...actions.slice(i * length, (i + 1) * length),
    ...(middle[i] ?? []),
  ])
  return { ...schedule, actions: [...opening, ...parts.flat(), ...actions.slice(count * length)] }
}
