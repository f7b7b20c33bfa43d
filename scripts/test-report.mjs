// Reads the JUnit report that Bun writes about a run of the tests.
import { readFileSync } from 'node:fs'

/** The counts and times of a report. If no report exists, Bun failed before any test ran. */
export function readReport(path) {
  let text = ''
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if (error.code !== 'ENOENT') throw error
  }
  const totals = /<testsuites\b[^>]*>/.exec(text)?.[0] ?? ''
  const count = (name) => Number(attribute(totals, name) ?? 0)
  const failed = count('failures') + count('errors')
  const tests = [...text.matchAll(/(<testcase\b[^>]*>)(?:\s*(<(?:failure|error)\b[^>]*>)([^<]*))?/g)].map(
    ([, tag, failure, details]) => ({
      file: attribute(tag, 'file') ?? '',
      name: attribute(tag, 'name') ?? '',
      ms: Math.round(Number(attribute(tag, 'time')) * 1000),
      // What timed out has a message and no details.
      ...(failure && { failure: plain(details).trim() || (attribute(failure, 'message') ?? '') }),
    }),
  )
  return { passed: count('tests') - failed - count('skipped'), failed, skipped: count('skipped'), tests }
}

/** One line for each of the slowest tests, the slowest first. */
export function describeSlowest(tests, most) {
  const slowest = tests.toSorted((a, b) => b.ms - a.ms).slice(0, most)
  return slowest.map(({ file, name, ms }) => `${String(ms).padStart(7)} ms  ${file}: ${name}`).join('\n')
}

/**
 * Why tests failed, in the order of the report. A long text is cut: the whole one is further up in the
 * output.
 */
export function describeFailures(tests) {
  return tests
    .filter(({ failure }) => failure !== undefined)
    .map(({ file, name, failure }) => `${file}: ${name}\n${failure.slice(0, LONGEST_FAILURE)}`)
    .join('\n\n')
}

function attribute(tag, name) {
  const value = new RegExp(` ${name}="([^"]*)"`).exec(tag)?.[1]
  return value === undefined ? undefined : plain(value)
}

function plain(text) {
  return text.replaceAll(/&(?:#(\d+)|#x([\da-f]+)|(\w+));/gi, (all, decimal, hex, entity) => {
    if (entity !== undefined) return ENTITIES[entity] ?? all
    return String.fromCodePoint(decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal))
  })
}

/** In characters. */
const LONGEST_FAILURE = 3000

const ENTITIES = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }
