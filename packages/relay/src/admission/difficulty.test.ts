// The work of a registration rises with their number and falls again, by a clock of the test.
import { expect, test } from 'bun:test'
import type { Log } from '../operations/log.ts'
import { Difficulty } from './difficulty.ts'

const MINUTE_MS = 60_000

function world(given: { least?: number; most?: number; risesAt?: number | undefined }) {
  const time = { ms: 123_456 }
  const events: string[] = []
  const at: Log['warn'] = (event, { count, reason } = {}) => void events.push(`${event} ${count} ${reason}`)
  const log: Log = { error: at, warn: at, info: at, debug: at }
  const clock = { now: () => 0, monotonic: () => time.ms }
  const difficulty = new Difficulty({ clock, log, ...{ least: 2, most: 5, risesAt: 10 }, ...given })
  const register = (count: number): void => {
    for (let i = 0; i < count; i++) difficulty.registered()
  }
  return { time, events, difficulty, register }
}

test('it rises when enough people register in ten minutes, by one zero for each four times as many', () => {
  const { difficulty, register, events } = world({})
  const seen = [9, 1, 29, 1, 119, 1, 10_000].map((count) => {
    register(count)
    return difficulty.current()
  })
  expect(seen).toEqual([2, 3, 3, 4, 4, 5, 5])
  expect(events).toEqual([
    'proof_of_work_rises 10 a proof of work needs 3 zeros',
    'proof_of_work_rises 40 a proof of work needs 4 zeros',
    'proof_of_work_rises 160 a proof of work needs 5 zeros',
  ])
})

test('it falls when half as many came in the last ten minutes, and is as before when nobody did', () => {
  const { time, difficulty, register, events } = world({})
  register(6)
  time.ms += 5 * MINUTE_MS
  register(5)
  expect(difficulty.current()).toBe(3)
  time.ms += 5 * MINUTE_MS
  expect(difficulty.current()).toBe(3) // The five of five minutes ago still count.
  time.ms += 5 * MINUTE_MS
  difficulty.look()
  expect(events.at(-1)).toBe('proof_of_work_falls 0 a proof of work needs 2 zeros')
  register(9)
  expect(difficulty.current()).toBe(2)
})

test('it never passes the most, and stays where it is if the operator turned it off', () => {
  const bounded = world({ least: 4, most: 4 })
  bounded.register(1000)
  expect([bounded.difficulty.current(), bounded.events]).toEqual([4, []])
  const off = world({ risesAt: undefined })
  off.register(1000)
  expect([off.difficulty.current(), off.events]).toEqual([2, []])
})

test('people who come one after the other, below the rate, do not make it rise', () => {
  const { time, difficulty, register } = world({})
  for (let minute = 0; minute < 120; minute++) {
    time.ms += MINUTE_MS + 500
    register(minute % 10 === 0 ? 0 : 1)
    expect(difficulty.current()).toBe(2)
  }
})
