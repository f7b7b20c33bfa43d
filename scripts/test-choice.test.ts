// What `npm test` leaves out is left out by its time, stands for no kind of tests alone, and leaves so little
// that it fits into ten minutes.
import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { ALWAYS, AT_ONCE, LONGEST_MS, leftOut, leftOutOfShare, withoutFiles } from './test-choice.mjs'
import { readReport } from './test-report.mjs'
import timings from './test-timings.json'

const ROOT = join(import.meta.dir, '..')
const times: Readonly<Record<string, number>> = timings.files
/** In seconds: ten minutes without the checks, the build of the app, and what runs alone at the end. */
const MOST_SECONDS = 480

test('what takes longer is left out, unless it stands for its kind', () => {
  const [kept = ''] = Object.values(ALWAYS)
  const made = {
    'b.test.ts': LONGEST_MS + 1,
    'a.test.ts': 90_000,
    'quick.test.ts': LONGEST_MS,
    [kept]: 90_000,
  }
  expect(leftOut(made)).toEqual(['a.test.ts', 'b.test.ts'])
})

test('each longer file is in one share', () => {
  const shares = [1, 2, 3].map((which) => new Set(leftOutOfShare(times, `${which}/3`)))
  const runs = leftOut(times).map((path) => shares.filter((out) => !out.has(path)).length)
  expect(new Set(runs)).toEqual(new Set([1]))
  expect(leftOutOfShare(times, '1/1')).toEqual([])
})

test('the shares take about the same time', () => {
  const msOf = (paths: readonly string[]) => paths.reduce((sum, path) => sum + (times[path] ?? 0), 0)
  const ms = [1, 2, 3].map((which) => msOf(leftOutOfShare(times, `${which}/3`)))
  expect(Math.min(...ms) / Math.max(...ms)).toBeGreaterThan(0.9)
})

test.each(['', '3', '0/3', '4/3', '1/0', '1/3/5', '-1/3', '1/x', '001/3'])('%p is no share', (share) => {
  expect(() => leftOutOfShare(times, share)).toThrow(RangeError)
})

test('what stands for a kind exists, and would be left out otherwise', () => {
  const needless = Object.values(ALWAYS).filter((path) => !((times[path] ?? 0) > LONGEST_MS))
  expect(needless).toEqual([])
})

test('each file with a recorded time exists', () => {
  expect(Object.keys(times).filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
})

test('the rest fits into ten minutes', () => {
  const out = new Set(leftOut(times))
  const ms = Object.entries(times).reduce((sum, [path, each]) => sum + (out.has(path) ? 0 : each), 0)
  expect(ms / 1000 / AT_ONCE).toBeLessThan(MOST_SECONDS)
})

test('Bun leaves out the files that it is told, and runs those that it knows nothing of', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sotto-choice-'))
  try {
    const files = ['packages/a/src/slow.test.ts', 'packages/b/src/slow.test.ts', 'packages/a/src/new.test.ts']
    for (const path of files) {
      await mkdir(dirname(join(folder, path)), { recursive: true })
      await writeFile(join(folder, path), `import { test } from 'bun:test'\ntest('runs', () => undefined)`)
    }
    const words = ['--reporter=junit', '--reporter-outfile=report.xml', ...withoutFiles(files.slice(0, 1))]
    const run = Bun.spawn([process.execPath, 'test', '--parallel=2', ...words], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'ignore'],
    })
    expect(await run.exited).toBe(0)
    const { tests } = readReport(join(folder, 'report.xml'))
    expect(tests.map(({ file }) => file).sort()).toEqual(files.slice(1).sort())
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
