// The outcome of a wake-up push, from the status and the Retry-After header of the answer.
import { describe, expect, test } from 'bun:test'
import { outcomeOf } from './push-service.ts'

const now = Date.UTC(2026, 0, 1)
const inHttp = (ms: number): string => new Date(now + ms).toUTCString()

describe('the outcome of a status', () => {
  test.each([
    [[200, 201, 202, 204], 'taken'],
    [[404, 410], 'gone'],
    [[101, 301, 307, 400, 401, 403, 405, 413], 'refused'],
    [[429, 500, 502, 503, 504, 599], 'later'],
  ] as const)('%p: %s', (statuses, kind) => {
    for (const status of statuses) expect(outcomeOf(status, null, now).kind).toBe(kind)
  })
})

describe('Retry-After', () => {
  test.each([
    ['0', 0],
    ['120', 120_000],
    ['3600', 3_600_000],
    [inHttp(90_000), 90_000],
    // A date in the past, by the service's clock or by ours: try again at once.
    [inHttp(-90_000), 0],
    // No service can delay us for longer than an hour.
    ['3601', 3_600_000],
    ['99999999999999999999999', 3_600_000],
    [inHttp(400 * 86_400_000), 3_600_000],
  ])('%s delays the next try', (retryAfter, afterMs) => {
    for (const status of [429, 503]) expect(outcomeOf(status, retryAfter, now)).toMatchObject({ afterMs })
  })

  test.each(['', 'soon', 'NaN', 'Infinity'])('"%s" is ignored', (retryAfter) => {
    expect(outcomeOf(429, retryAfter, now)).toEqual({ kind: 'later', status: 429, reason: 'answered 429' })
  })
})
