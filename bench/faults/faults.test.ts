// A short run of bench/faults with a fixed seed: whatever is done to it, the relay keeps its promises.
import { expect, test } from 'bun:test'
import { allDeeds } from './nemesis.ts'
import { runRound } from './round.ts'

const SEED = 20_261_125
/** Who falls out, comes back and leaves has to have done so. */
const PARTINGS = ['block done', 'unblock done', 'part done', 'accept done', 'leave done']

test('every fault once: nothing acknowledged is lost, doubled, reordered or shown to anyone else', async () => {
  const result = await runRound({
    ...{ seed: SEED, seconds: 6, lastsMs: [100, 400], quietMs: 45_000 },
    isEnough: (counts) => PARTINGS.every((what) => (counts[what] ?? 0) > 0),
  })
  for (const what of result.missing) console.log(`bench/faults ran with less: ${what}`)
  const { violations, savedAt, deeds, counts } = result
  if (savedAt) console.log(`The history: ${savedAt}. The relay's errors: ${result.errors.slice(-2000)}`)
  expect(violations.slice(0, 10)).toEqual([])
  // That it did what it is for: load went through, people fell out and left, and every fault possible here came.
  expect(counts['received ack'] ?? 0).toBeGreaterThan(300)
  expect(counts['received msg'] ?? 0).toBeGreaterThan(200)
  for (const what of PARTINGS) expect({ what, count: counts[what] ?? 0 }).not.toEqual({ what, count: 0 })
  if (deeds.age) expect(counts['received EXPIRED'] ?? 0).toBeGreaterThan(0)
  if (result.missing.length === 0)
    expect(Object.keys(deeds).toSorted()).toEqual(allDeeds.filter((deed) => deed !== 'postgres').toSorted())
}, 180_000)
