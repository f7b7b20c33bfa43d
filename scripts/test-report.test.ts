// The counts and the slowest tests of a run, read from a report that Bun wrote.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describeFailures, describeSlowest, readReport } from './test-report.mjs'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sotto-report-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

test('counts the passed, failed and skipped tests, reads their names and times, and says why others failed', async () => {
  await writeFile(
    join(folder, 'made.test.ts'),
    `import { describe, expect, test } from 'bun:test'
    test('is quick', () => undefined)
    describe('a group', () => {
      test('is slow & "quoted" <so>', async () => { await Bun.sleep(60) })
      test('fails', () => expect(1).toBe(2))
      test('takes too long', () => new Promise(() => {}), 50)
    })
    test.skip('is not run', () => undefined)`,
  )
  const path = join(folder, 'report.xml')
  const run = Bun.spawn(
    [
      process.execPath,
      'test',
      '--reporter=junit',
      `--reporter-outfile=${path}`,
      join(folder, 'made.test.ts'),
    ],
    { cwd: folder, stdout: 'ignore', stderr: 'ignore' },
  )
  expect(await run.exited).toBe(1)
  const { tests, ...counts } = readReport(path)
  expect(counts).toEqual({ passed: 2, failed: 2, skipped: 1 })
  const slow = tests.filter(({ name }) => name.startsWith('is slow'))
  expect(describeSlowest(slow, 1)).toMatch(/^ +\d+ ms {2}\S*made\.test\.ts: is slow & "quoted" <so>$/)
  // A timer may be a little early. How late it is, and how long the others take, depends on the machine.
  expect(slow[0]?.ms).toBeGreaterThan(50)
  const [wrong, late] = describeFailures(tests).split(/\n\n(?=\S*made\.test\.ts)/)
  expect(wrong).toMatch(/^\S*made\.test\.ts: fails\n[\s\S]*Expected: 2\nReceived: 1/)
  expect(late).toMatch(/^\S*made\.test\.ts: takes too long\ntest timed out$/)
})

test('the slowest are those with the longest times, the slowest first', () => {
  const [file, times] = ['a.test.ts', { b: 3, c: 1200, d: 45 }]
  const tests = Object.entries(times).map(([name, ms]) => ({ file, name, ms }))
  expect(describeSlowest(tests, 2)).toBe('   1200 ms  a.test.ts: c\n     45 ms  a.test.ts: d')
})

test('without a report, no test counts as run', () => {
  expect(readReport(join(folder, 'none.xml'))).toEqual({ passed: 0, failed: 0, skipped: 0, tests: [] })
})
