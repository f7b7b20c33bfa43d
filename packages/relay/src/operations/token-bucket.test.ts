// The token bucket: a burst at once, then an even refill, and never more saved up than the burst.
import { expect, test } from 'bun:test'
import * as fc from 'fast-check'
import { TokenBucket } from './token-bucket.ts'

test('allows its burst at once, and then returns how long to wait', () => {
  const bucket = new TokenBucket({ burst: 3, perSeconds: 6 }, 0)
  expect([bucket.take(0), bucket.take(0), bucket.take(0)]).toEqual([0, 0, 0])
  expect(bucket.take(0)).toBe(2000)
  expect(bucket.take(500)).toBe(1500)
  expect(bucket.take(2000)).toBe(0)
  expect(bucket.take(2000)).toBe(2000)
})

test('a refused request takes no token', () => {
  const bucket = new TokenBucket({ burst: 1, perSeconds: 1 }, 0)
  bucket.take(0)
  for (let now = 0; now < 1000; now += 10) expect(bucket.take(now)).toBeGreaterThan(0)
  expect(bucket.take(1000)).toBe(0)
})

test('saves up its burst and no more, no matter how long it is unused', () => {
  const bucket = new TokenBucket({ burst: 2, perSeconds: 1 }, 0)
  bucket.take(0)
  expect(bucket.isFull(0)).toBe(false)
  expect(bucket.isFull(1e12)).toBe(true)
  expect([bucket.take(1e12), bucket.take(1e12), bucket.take(1e12) > 0]).toEqual([0, 0, true])
})

test('gives several tokens at once, and more than its burst if it is full, which then takes longer to refill', () => {
  const bucket = new TokenBucket({ burst: 10, perSeconds: 10 }, 0)
  expect([bucket.take(0, 4), bucket.take(0, 7), bucket.take(0, 6)]).toEqual([0, 1000, 0])
  expect(bucket.take(9999, 30)).toBeGreaterThan(0)
  expect(bucket.take(10_000, 30)).toBe(0)
  expect(bucket.take(10_000)).toBe(21_000)
})

test('is charged more than it holds, and then takes longer to refill', () => {
  const bucket = new TokenBucket({ burst: 10, perSeconds: 10 }, 0)
  expect(bucket.charge(0, 4)).toBe(0)
  expect(bucket.take(0, 0)).toBe(0)
  expect(bucket.charge(0, 9)).toBe(3000)
  expect([bucket.take(0, 0), bucket.take(0)]).toEqual([3000, 4000])
  expect([bucket.take(3000, 0), bucket.take(3000)]).toEqual([0, 1000])
})

test('a client that waits for the returned time is served, and no client gets more than burst and refill allow', async () => {
  const steps = fc.array(fc.nat(3000), { minLength: 1, maxLength: 60 })
  await fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 20 }),
      fc.integer({ min: 1, max: 100 }),
      steps,
      (burst, perSeconds, pauses) => {
        const bucket = new TokenBucket({ burst, perSeconds }, 0)
        let now = 0
        let taken = 0
        for (const pause of pauses) {
          now += pause
          const wait = bucket.take(now)
          now += wait
          if (wait > 0) expect(bucket.take(now)).toBe(0)
          taken += 1
        }
        expect(taken).toBeLessThanOrEqual(burst + (now * burst) / (perSeconds * 1000) + 1e-3)
      },
    ),
  )
})
