// Maintenance: every pass runs every task, also after another task failed. Tasks that need a trusted clock do
// not run while it is not trusted.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { clockAt } from '../../test/mailbox-world.ts'
import { openSqlite } from '../storage/sqlite.ts'
import type { Storage } from '../storage/storage.ts'
import { ClockTrust, trustClockAgain } from './clock-trust.ts'
import { createLog } from './log.ts'
import { type MaintenanceTask, startMaintenance } from './maintenance.ts'
import type { Sliced } from './slices.ts'
import type { Turn, Turns } from './turns.ts'

const clock = clockAt(1_800_000_000_000)
const log = createLog('silent')
let folder: string
let storage: Storage
let turn: Turn | undefined
const turns: Turns = {
  get current() {
    return turn
  },
  inEach: () => undefined,
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sotto-maintenance-'))
  storage = await openSqlite(folder)
})
afterEach(async () => {
  await storage.close()
  await rm(folder, { recursive: true, force: true })
})

/** Starts the passes. `pass` resolves with the names of the tasks that ran in the next complete pass. */
function start(tasks: readonly MaintenanceTask[]) {
  let ran: string[] = []
  let onEnd: ((names: string[]) => void) | undefined
  const recorded = tasks.map((task) => ({
    ...task,
    run: (work: Sliced) => {
      ran.push(task.name)
      return task.run(work)
    },
  }))
  const end = {
    name: 'end',
    run: () => {
      onEnd?.(ran)
      ran = []
    },
  }
  const clockTrust = new ClockTrust({ storage, clock, log })
  const maintenance = startMaintenance([...recorded, end], { clockTrust, log, storage, turns, everyMs: 5 })
  const ended = (): Promise<string[]> =>
    new Promise((resolve) => {
      onEnd = resolve
    })
  return {
    ...maintenance,
    pass: async () => {
      await ended() // The current pass began before the test changed anything.
      return await ended()
    },
  }
}

test('a task that fails does not stop the others, in this pass and the next', async () => {
  const fail = async (): Promise<void> => {
    throw new Error('on purpose')
  }
  const { pass, stop } = start([
    { name: 'broken', run: fail },
    { name: 'whole', run: () => undefined },
  ])
  expect(await pass()).toEqual(['broken', 'whole'])
  expect(await pass()).toEqual(['broken', 'whole'])
  await stop()
})

test('while the clock is not trusted, only tasks that do not need a trusted clock run', async () => {
  const { pass, stop } = start([
    { name: 'expiry', needsTrustedClock: true, run: () => undefined },
    { name: 'rates', run: () => undefined },
  ])
  expect(await pass()).toEqual(['expiry', 'rates'])
  clock.jump(2 * 3_600_000)
  expect(await pass()).toEqual(['rates'])
  expect(await pass()).toEqual(['rates'])
  await trustClockAgain(storage)
  expect(await pass()).toEqual(['expiry', 'rates'])
  await stop()
})

test('stop aborts the running task, waits for it, and starts no other pass', async () => {
  let passes = 0
  const started = Promise.withResolvers<void>()
  const { stop } = start([
    {
      name: 'slow',
      run: async ({ signal }) => {
        passes += 1
        started.resolve()
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
      },
    },
  ])
  await started.promise
  await stop()
  expect(passes).toBe(1)
})

test('tasks for one node run only in its turn, and with what the turn gives them', async () => {
  const got: Storage[] = []
  const { pass, stop } = start([
    { name: 'sweep', onOneNode: true, run: (work) => void got.push(work.storage) },
    { name: 'rates', run: () => undefined },
  ])
  expect(await pass()).toEqual(['rates'])
  const fenced = { ...storage }
  turn = { storage: fenced, signal: new AbortController().signal }
  expect(await pass()).toEqual(['sweep', 'rates'])
  turn = undefined
  expect(await pass()).toEqual(['rates'])
  await stop()
  expect(got.every((each) => each === fenced)).toBe(true)
})
