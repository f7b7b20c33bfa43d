// `npm test`: installs what is missing, then every check and every test. With paths, `bun test` on those alone.
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bunPath, ensureInstalledOrExit, root } from './bootstrap.mjs'

// Much of a test is waiting for servers, disks and browsers: two files at a time. A process keeps its modules from file to
// file, and with them the one PostgreSQL that it starts.
const lanes = ['--parallel=2', '--no-isolate']

const startedMs = performance.now()
const chosen = process.argv.slice(2)
const isWhole = chosen.length === 0

await ensureInstalledOrExit()
const { ensureSystemPackages } = await import('./system-packages.mjs')
const missing = ensureSystemPackages()
if (missing !== undefined) {
  say(missing)
  // A chosen test may do without.
  if (isWhole) process.exit(1)
}

// One after the other: tests that wait for real time should not wait for the compiler, too.
const failedChecks = isWhole ? await (await import('./checks.mjs')).runChecks() : 0
const tests = await runTests(chosen)

say(`\nTook ${seconds(startedMs)} s.`)
if (tests.skipped > 0) say(`${tests.skipped} skipped`)
if (tests.passed + tests.failed === 0) say('No test ran.')
if (failedChecks > 0) say(`npm run check failed: ${failedChecks} of its checks, above.`)
say(`${tests.passed} passed, ${tests.failed} failed`)
process.exitCode = tests.passed > 0 && tests.failed === 0 && failedChecks === 0 ? 0 : 1

async function runTests(args) {
  const folder = mkdtempSync(join(tmpdir(), 'sotto-test-'))
  const report = join(folder, 'report.xml')
  try {
    const words = [
      'test',
      '--timeout',
      '60000',
      '--reporter=junit',
      `--reporter-outfile=${report}`,
      ...lanes,
      ...args,
    ]
    const code = await runBun(words)
    const counts = readReport(report)
    // A file that does not load, or Bun itself failing, is in no test's result.
    return code !== 0 && counts.failed === 0 ? { ...counts, failed: 1 } : counts
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function runBun(words) {
  const child = spawn(bunPath, words, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] })
  // Bun ends by the same Ctrl-C; we stay to tell the counts.
  process.on('SIGINT', () => {})
  process.on('SIGTERM', () => child.kill('SIGTERM'))
  return new Promise((resolve) => {
    child.on('error', () => resolve(1))
    child.on('exit', (code) => resolve(code ?? 1))
  })
}

function readReport(path) {
  let totals = ''
  try {
    totals = /<testsuites\b[^>]*>/.exec(readFileSync(path, 'utf8'))?.[0] ?? ''
  } catch {
    // No report: Bun did not get as far.
  }
  const count = (name) => Number(new RegExp(` ${name}="(\\d+)"`).exec(totals)?.[1] ?? 0)
  const failed = count('failures') + count('errors')
  return { passed: count('tests') - failed - count('skipped'), failed, skipped: count('skipped') }
}

function seconds(sinceMs) {
  return ((performance.now() - sinceMs) / 1000).toFixed(1)
}

function say(text) {
  process.stdout.write(`${text}\n`)
}
