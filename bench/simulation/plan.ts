// What happens in a simulation by its seed: how many nodes and people take part, and which faults strike
// when. A failing seed is shrunk by leaving parts of its plan out.
import { Random } from '../faults/random.ts'
import { MOST_PEOPLE } from './people.ts'

/** What can go wrong, and what that means. */
export const faults = {
  sleep: 'a node stands still, its timers too, while the others go on',
  kill: 'a node dies and starts again; what it had asked the database may still happen',
  'cut-off': 'a node neither sends nor receives packets of the bus',
  store: "the answers of a node's database are errors: the request was carried out, or it was not",
  clock: 'the wall clock of a node jumps',
  line: 'a connection is lost, and the node may not learn of it',
  takeover: 'an account connects again while its last connection is open',
  deaf: 'a client reads nothing for a while',
} as const

export type FaultKind = keyof typeof faults

export interface Fault {
  /** Its number in the plan of the seed. */
  readonly number: number
  readonly kind: FaultKind
  readonly atMs: number
  readonly lastsMs: number
  /** By which its node or client is found. */
  readonly whom: number
}

export interface Plan {
  readonly seed: number
  readonly nodes: number
  readonly people: number
  /** How often each person does something. */
  readonly actions: number
  /** How long they take for that, without faults. */
  readonly activeMs: number
  readonly faults: readonly Fault[]
}

/** What to leave out of the plan of a seed. */
export interface Cuts {
  readonly nodes?: number
  readonly people?: number
  readonly actions?: number
  /** The numbers of the faults to keep; all of them if undefined. */
  readonly faults?: readonly number[]
}

/** The plan of a seed. */
export function planOf(seed: number, cuts: Cuts = {}): Plan {
  const random = new Random(seed, 2)
  const activeMs = random.pick([200, 2000, 8000])
  const kinds = Object.keys(faults) as FaultKind[]
  const all = Array.from({ length: random.whole(0, 7) }, (_, number) => ({
    number,
    kind: random.pick(kinds),
    atMs: random.between(0, activeMs),
    lastsMs: random.pick([10, 300, 3000, 12_000]),
    whom: random.whole(0, 11),
  }))
  const nodes = random.pick([1, 2, 2, 3])
  const people = random.whole(2, MOST_PEOPLE)
  const actions = random.whole(3, 14)
  return {
    ...{ seed, activeMs },
    nodes: Math.min(nodes, cuts.nodes ?? nodes),
    people: Math.min(people, cuts.people ?? people),
    actions: Math.min(actions, cuts.actions ?? actions),
    faults: all.filter(({ number }) => cuts.faults?.includes(number) ?? true),
  }
}

/** The words by which a plan is run again. */
export function wordsOf(seed: number, cuts: Cuts): string {
  const words = [`--seed ${seed}`]
  for (const name of ['nodes', 'people', 'actions'] as const)
    if (cuts[name] !== undefined) words.push(`--${name} ${cuts[name]}`)
  if (cuts.faults) words.push(`--faults ${cuts.faults.join(',') || 'none'}`)
  return words.join(' ')
}
