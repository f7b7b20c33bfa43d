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
  const tests = [...text.matchAll(/<testcase\b[^>]*>/g)].map(([tag]) => ({
    file: attribute(tag, 'file') ?? '',
    name: attribute(tag, 'name') ?? '',
    ms: Math.round(Number(attribute(tag, 'time')) * 1000),
  }))
  return { passed: count('tests') - failed - count('skipped'), failed, skipped: count('skipped'), tests }
}

/** One line for each of the slowest tests, the slowest first. */
export function describeSlowest(tests, most) {
  const slowest = tests.toSorted((a, b) => b.ms - a.ms).slice(0, most)
  return slowest.map(({ file, name, ms }) => `${String(ms).padStart(7)} ms  ${file}: ${name}`).join('\n')
}

function attribute(tag, name) {
  const value = new RegExp(` ${name}="([^"]*)"`).exec(tag)?.[1]
  return value?.replaceAll(/&(?:#(\d+)|#x([\da-f]+)|(\w+));/gi, (all, decimal, hex, entity) => {
    if (entity !== undefined) return ENTITIES[entity] ?? all
    return String.fromCodePoint(decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal))
  })
}

const ENTITIES = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }
