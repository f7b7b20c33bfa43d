// A link that stays poor turns video off. A short disturbance and unknown values do not.
import { expect, test } from 'bun:test'
import { LinkQuality, type LinkSample } from './link-quality.ts'

const good: LinkSample = { videoLoss: 0.02, available: 800_000 }
const lossy: LinkSample = { videoLoss: 0.3, available: 800_000 }
const narrow: LinkSample = { available: 40_000 }

const verdicts = (...samples: LinkSample[]): boolean[] => {
  const quality = new LinkQuality()
  return samples.map((sample) => quality.isPoor(sample))
}

test('a link with high loss or low bandwidth in three samples in a row is poor', () => {
  expect(verdicts(lossy, narrow, lossy)).toEqual([false, false, true])
})

test('counting starts again after a good sample, and after a poor verdict', () => {
  expect(verdicts(lossy, lossy, good, lossy, lossy)).toEqual([false, false, false, false, false])
  expect(verdicts(narrow, narrow, narrow, narrow, narrow, narrow)).toEqual([
    false,
    false,
    true,
    false,
    false,
    true,
  ])
})

test('a link with unknown values is not poor', () => {
  expect(verdicts({}, {}, {}, {})).toEqual([false, false, false, false])
})

test('a report counts once, however often it is sampled', () => {
  const reported = (reportedAt: number): LinkSample => ({ ...lossy, reportedAt })
  expect(verdicts(reported(1), reported(1), reported(1), reported(1))).not.toContain(true)
  expect(verdicts(reported(1), reported(1), reported(2), reported(2), reported(3))).toEqual([
    ...[false, false, false, false],
    true,
  ])
  expect(verdicts(...[1, 1, 1].map((reportedAt) => ({ ...narrow, reportedAt })))).toContain(true)
})
