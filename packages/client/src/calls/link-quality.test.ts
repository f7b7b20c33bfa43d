// When video is given up: not for a moment's trouble, and not for what is not known.
import { expect, test } from 'bun:test'
import { LinkQuality, type LinkSample } from './link-quality.ts'

const good: LinkSample = { videoLoss: 0.02, available: 800_000 }
const lossy: LinkSample = { videoLoss: 0.3, available: 800_000 }
const narrow: LinkSample = { available: 40_000 }

const looks = (...samples: LinkSample[]): boolean[] => {
  const quality = new LinkQuality()
  return samples.map((sample) => quality.look(sample))
}

test('a link that loses much or carries little, three looks in a row, is poor', () => {
  expect(looks(lossy, narrow, lossy)).toEqual([false, false, true])
})

test('one good look between begins anew, and so does the verdict', () => {
  expect(looks(lossy, lossy, good, lossy, lossy)).toEqual([false, false, false, false, false])
  expect(looks(narrow, narrow, narrow, narrow, narrow, narrow)).toEqual([
    false,
    false,
    true,
    false,
    false,
    true,
  ])
})

test('a link of which nothing is known is not poor', () => {
  expect(looks({}, {}, {}, {})).toEqual([false, false, false, false])
})
