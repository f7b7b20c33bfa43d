// Short runs of bench/faults with a fixed seed: the relay keeps its promises under every fault, as one node
// and as three.
import { expect, test } from 'bun:test'
import { allDeeds, type Deed } from './deeds.ts'
import { runRound } from './round.ts'

const SEED = 20_261_125
/**
 * What happens in a meaningful run, once at least: how much happens depends on the machine. The round itself
 * sees that the relay serves after every fault.
 */
const HAPPENS = [
  ...['received ack', 'received msg', 'received delivered'],
  ...['block done', 'unblock done', 'part done', 'accept done', 'leave done'],
]

type Counts = Readonly<Record<string, number>>

const hasHappened = (counts: Counts): boolean => HAPPENS.every((what) => counts[what] !== undefined)
/** Messages can expire only if the test controls the clock. */
const haveExpired = (counts: Counts): boolean =>
  counts.old === undefined || counts['received EXPIRED'] !== undefined

/** What only a database or several nodes can suffer. */
const OF_CLUSTERS: readonly Deed[] = [
  ...(['postgres', 'cut', 'failover', 'isolate', 'replace', 'deafness', 'bus', 'unheard'] as const),
]
/** What happens to a disk: PostgreSQL has its own. */
const OF_DISKS: readonly Deed[] = ['power', 'slow', 'full']
/** What several nodes take as one does, or as part of another fault. */
const AS_ONE_NODE: readonly Deed[] = ['restart', 'half-open', 'deaf', 'duplicates']
/** Another build is a checkout of its own. */
const BY_HAND: readonly Deed[] = ['upgrade']
const NO_DISK_FAULTS = 'no power cuts and no disks that fail: PostgreSQL has its own disk'

for (const { nodes, engine, lacks } of [
  { nodes: 1, engine: 'sqlite', lacks: [...OF_CLUSTERS, ...BY_HAND] },
  { nodes: 3, engine: 'postgres', lacks: [...OF_DISKS, ...AS_ONE_NODE, ...BY_HAND] },
] as const) {
  const relay = nodes === 1 ? 'a relay' : `a relay of ${nodes} nodes`
  test(`under every fault, no acknowledged message of ${relay} is lost, doubled, reordered or shown to the wrong client`, async () => {
    const only = allDeeds.filter((deed) => !lacks.includes(deed))
    const result = await runRound({
      ...{ seed: SEED, engine, nodes, bus: 'nats', only, seconds: 6, lastsMs: [100, 400], quietMs: 45_000 },
      isEnough: (counts) => hasHappened(counts) && haveExpired(counts),
    })
    for (const what of result.missing) console.log(`bench/faults ran with less: ${what}`)
    const { violations, savedAt, deeds, counts } = result
    if (savedAt) console.log(`The history: ${savedAt}. The relay's errors: ${result.errors.slice(-2000)}`)
    expect(violations.slice(0, 10)).toEqual([])
    // The run had everything, and every fault that is possible here.
    for (const what of HAPPENS) expect(counts[what] ?? 0, what).toBeGreaterThan(0)
    if (deeds.age) expect(counts['received EXPIRED'] ?? 0).toBeGreaterThan(0)
    if (result.missing.every((reason) => reason === NO_DISK_FAULTS))
      expect(Object.keys(deeds).toSorted()).toEqual(only.toSorted())
  }, 600_000)
}
