// A short run of bench/faults with a fixed seed: whatever is done to it, the relay keeps its promises.
import { expect, test } from 'bun:test'
import { allDeeds } from './nemesis.ts'
import { runRound } from './round.ts'

const SEED = 20_261_125
/** What has to have happened, more often than so: load went through, people fell out, came back and left. */
const MORE_THAN = {
  ...{ 'received ack': 300, 'received msg': 200 },
  ...{ 'block done': 0, 'unblock done': 0, 'part done': 0, 'accept done': 0, 'leave done': 0 },
}

type Counts = Readonly<Record<string, number>>

/** Nothing grows old where the clock is not ours. */
const isEnough = (counts: Counts): boolean =>
  Object.entries(MORE_THAN).every(([what, least]) => (counts[what] ?? 0) > least) &&
  (counts.old === undefined || counts['received EXPIRED'] !== undefined)

test('every fault once: nothing acknowledged is lost, doubled, reordered or shown to anyone else', async () => {
  const result = await runRound({
    ...{ seed: SEED, seconds: 6, lastsMs: [100, 400], quietMs: 45_000, isEnough },
  })
  for (const what of result.missing) console.log(`bench/faults ran with less: ${what}`)
  const { violations, savedAt, deeds, counts } = result
  if (savedAt) console.log(`The history: ${savedAt}. The relay's errors: ${result.errors.slice(-2000)}`)
  expect(violations.slice(0, 10)).toEqual([])
  // That it did what it is for, and every fault possible here came.
  for (const [what, least] of Object.entries(MORE_THAN))
    expect(counts[what] ?? 0, what).toBeGreaterThan(least)
  if (deeds.age) expect(counts['received EXPIRED'] ?? 0).toBeGreaterThan(0)
  if (result.missing.length === 0)
    expect(Object.keys(deeds).toSorted()).toEqual(allDeeds.filter((deed) => deed !== 'postgres').toSorted())
}, 300_000)
