// A short run of bench/faults with a fixed seed: the relay keeps its promises under every fault.
import { expect, test } from 'bun:test'
import { allDeeds } from './deeds.ts'
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

/** Messages can expire only if the test controls the clock. */
const isEnough = (counts: Counts): boolean =>
  HAPPENS.every((what) => counts[what] !== undefined) &&
  (counts.old === undefined || counts['received EXPIRED'] !== undefined)

test('under every fault, no acknowledged message is lost, doubled, reordered or shown to the wrong client', async () => {
  const result = await runRound({
    ...{ seed: SEED, seconds: 6, lastsMs: [100, 400], quietMs: 45_000, isEnough },
  })
  for (const what of result.missing) console.log(`bench/faults ran with less: ${what}`)
  const { violations, savedAt, deeds, counts } = result
  if (savedAt) console.log(`The history: ${savedAt}. The relay's errors: ${result.errors.slice(-2000)}`)
  expect(violations.slice(0, 10)).toEqual([])
  // The run had everything, and every fault that is possible here.
  for (const what of HAPPENS) expect(counts[what] ?? 0, what).toBeGreaterThan(0)
  if (deeds.age) expect(counts['received EXPIRED'] ?? 0).toBeGreaterThan(0)
  if (result.missing.length === 0)
    expect(Object.keys(deeds).toSorted()).toEqual(allDeeds.filter((deed) => deed !== 'postgres').toSorted())
}, 300_000)
