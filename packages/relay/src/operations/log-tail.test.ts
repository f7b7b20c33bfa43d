// The tail of the log: which lines it keeps, how many, and how much of each.
import { expect, test } from 'bun:test'
import { createLog } from './log.ts'
import { LogTail } from './log-tail.ts'

const clock = { now: () => 1000, monotonic: () => 0 }

test('the latest 500 lines are kept, newest first, that the level lets through', () => {
  const tail = new LogTail({ clock })
  const log = tail.kept(createLog('silent'), 'info')
  log.debug('hidden')
  for (let i = 0; i < 503; i++) log.info('counted', { count: i })
  const counts = tail.latest().map(({ fields }) => Number(fields.count))
  expect(counts).toEqual(Array.from({ length: 500 }, (_, i) => 502 - i))
  expect(tail.latest()[0]).toEqual({ at: 1000, level: 'info', event: 'counted', fields: { count: '502' } })
})

test('long fields are cut, an error has its stack, and what is absent is left out', () => {
  const tail = new LogTail({ clock })
  const log = tail.kept(createLog('silent'), 'error')
  const error = new Error('the reason')
  log.error('failed', { error, reason: 'x'.repeat(5000), account: undefined as never })
  const [line] = tail.latest()
  expect(Object.keys(line?.fields ?? {})).toEqual(['error', 'reason'])
  expect(line?.fields.error).toStartWith('Error: the reason\n')
  expect(line?.fields.reason).toHaveLength(2000)
})

test('a level of silent keeps nothing', () => {
  const tail = new LogTail({ clock })
  tail.kept(createLog('silent'), 'silent').error('failed')
  expect(tail.latest()).toEqual([])
})
