// What becomes of a wake, by the status and the Retry-After it was answered with.
import { describe, expect, test } from 'bun:test'
import { outcomeOf } from './push-service.ts'

const now = Date.UTC(2026, 0, 1)
const inHttp = (ms: number): string => new Date(now + ms).toUTCString()

describe('a status stands for', () => {
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
    // A date that is over, by their clock or ours: as soon as may be.
    [inHttp(-90_000), 0],
    // No service puts us off for longer than an hour, however it says so.
    ['3601', 3_600_000],
    ['99999999999999999999999', 3_600_000],
    [inHttp(400 * 86_400_000), 3_600_000],
  ])('%s is waited for', (retryAfter, afterMs) => {
    for (const status of [429, 503]) expect(outcomeOf(status, retryAfter, now)).toMatchObject({ afterMs })
  })

  test.each(['', 'soon', 'NaN', 'Infinity'])('"%s" says nothing', (retryAfter) => {
    expect(outcomeOf(429, retryAfter, now)).toEqual({ kind: 'later', status: 429, reason: 'answered 429' })
  })
})
