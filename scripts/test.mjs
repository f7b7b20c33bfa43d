// `npm test`: installs what is missing, then runs every check and every test file that is quick or stands for
// its kind (`test-choice.mjs`). With `--all`, it leaves out nothing; with `--share=1/3`, it runs a third of
// what it would leave out. With paths, it runs only `bun test` on those paths. With `--long`, it runs all,
// and tests that repeat something random repeat it more often.
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureAppOrExit } from './app-build.mjs'
import { ensureInstalledOrExit } from './bootstrap.mjs'
import { bunPath, root } from './installation.mjs'
import { LONGEST_MS, leftOut, leftOutOfShare, withoutFiles } from './test-choice.mjs'
import { describeFailures, describeSlowest, readReport } from './test-report.mjs'

// Tests also wait, for servers, disks and browsers, so three files run at a time on two processors. A fourth
// makes the whole no faster, and each test slower: one that stands for 10 seconds alone took minutes. A
// process keeps its modules from file to file, and so also the one PostgreSQL that it starts. The files that
// took longest when the times were recorded run first, so that the lanes finish at about the same time.
const timings = join(root, 'scripts/test-timings.json')
const lanes = ['--parallel=3', '--no-isolate', `--timings=${timings}`]
const SLOWEST = 30
// Long enough for a busy machine. A test says what it waits for in vain before that.
const TIMEOUT_MS = 240_000

const startedMs = performance.now()
const isLong = process.argv.includes('--long')
// packages/protocol/test/rounds.ts reads it.
if (isLong) process.env.LONG_TESTS = 'yes'
const share = process.argv.find((word) => word.startsWith('--share='))?.slice('--share='.length)
const chosen = process.argv.slice(2).filter((word) => !/^--(long|all|share=.*)$/.test(word))
const isWhole = chosen.length === 0
const isAll = isLong || process.argv.includes('--all')
const left = isWhole && !isAll ? choose() : []

await ensureInstalledOrExit()
const { ensureSystemPackages } = await import('./system-packages.mjs')
const missing = ensureSystemPackages()
if (missing !== undefined) {
  say(missing)
  // The chosen tests may not need it.
  if (isWhole) process.exit(1)
}

// Before the tests, because several of them run at once.
if (isWhole || chosen.some((path) => path.includes('packages/web'))) ensureAppOrExit()

// The checks end before the tests start, because the compiler would slow down tests that wait for real time.
const failedChecks = isWhole ? await (await import('./checks.mjs')).runChecks() : []
const tests = await runTests([...withoutFiles(left), ...chosen])

if (isWhole) say(`\nThe slowest tests:\n${describeSlowest(tests.tests, SLOWEST)}`)
// Again, because the output of thousands of tests is between.
if (isWhole && tests.failed > 0) say(`\nThe failures:\n${describeFailures(tests.tests)}`)
say(`\nTook ${seconds(startedMs)} s.`)
if (left.length > 0) {
  say(`${left.length} files were left out, because each takes longer than ${LONGEST_MS / 1000} s:`)
  say('npm test -- --all runs them, too.')
}
if (tests.skipped > 0) say(`${tests.skipped} skipped`)
if (tests.passed + tests.failed === 0) say('No test ran.')
for (const { name, output } of failedChecks) say(`\nnpm run check: ${name}\n${output.trim()}`)
if (failedChecks.length > 0) say(`${failedChecks.length} checks failed`)
say(`${tests.passed} passed, ${tests.failed} failed`)
process.exitCode = tests.passed > 0 && tests.failed === 0 && failedChecks.length === 0 ? 0 : 1

/** The files that this run leaves out. */
function choose() {
  const timesMs = JSON.parse(readFileSync(timings, 'utf8')).files
  return share === undefined ? leftOut(timesMs) : leftOutOfShare(timesMs, share)
}

async function runTests(args) {
  const folder = mkdtempSync(join(tmpdir(), 'sotto-test-'))
  const report = join(folder, 'report.xml')
  try {
    const words = [
      'test',
      `--timeout=${TIMEOUT_MS}`,
      '--reporter=junit',
      `--reporter-outfile=${report}`,
      ...lanes,
      ...args,
    ]
    const code = await runBun(words)
    const counts = readReport(report)
    // The report does not count a file that does not load, or a failure of Bun itself.
    return code !== 0 && counts.failed === 0 ? { ...counts, failed: 1 } : counts
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function runBun(words) {
  const child = spawn(bunPath, words, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] })
  // The same Ctrl-C ends Bun. This process continues, to print the counts.
  process.on('SIGINT', () => {})
  process.on('SIGTERM', () => child.kill('SIGTERM'))
  return new Promise((resolve) => {
    child.on('error', () => resolve(1))
    child.on('exit', (code) => resolve(code ?? 1))
  })
}

function seconds(sinceMs) {
  return ((performance.now() - sinceMs) / 1000).toFixed(1)
}

function say(text) {
  process.stdout.write(`${text}\n`)
}
