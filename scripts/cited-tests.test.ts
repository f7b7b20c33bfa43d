// The documents name only files and tests that exist, and judge every requirement.
import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Files, findWrongCitations, testNamesIn } from './cited-tests.ts'

const ROOT = join(import.meta.dir, '..')

describe('a document names', () => {
  const paths = [...new Bun.Glob('{packages,scripts,bench,fuzz,vectors,docs}/**/*').scanSync(ROOT)]
  const files: Files = {
    paths: [...paths, 'package-lock.json'].filter((path) => !path.includes('node_modules')),
    read: (path) => readFileSync(join(ROOT, path), 'utf8'),
  }

  test.each(['docs/security-review.md', 'docs/asvs.md'])(
    'only files and tests that exist: %s',
    (document) => {
      const text = files.read(document)
      expect(text).toContain('.test.ts`: ')
      expect(findWrongCitations(text, files)).toEqual([])
    },
  )
})

describe('in a row of a table', () => {
  const text = `
    describe('a group', () => {
      test('takes one; and another, at once', () => {})
      test.each([1])(
        'counts to %s and stops (always)',
        () => {},
      )
      test(\`runs on \${engine.name}\`, () => {})
      test('%s', () => {})
    })
    test('stands alone', () => {})
    call('is no test', () => {})`
  const files: Files = { paths: ['a/src/one.ts', 'a/test/one.test.ts', 'b/one.ts'], read: () => text }
  const findingsOf = (cell: string): string[] => findWrongCitations(`| V1 | yes | ${cell} |`, files)

  test('tests are found, in full, cut short, with what they fill in, and with remarks', () => {
    expect(testNamesIn('one.test.ts', text).length).toBe(8)
    for (const cell of [
      '`one.test.ts`: takes one; and another, at once; a group counts to 3.5 and stops. `a/src/one.ts`',
      '`a/test/one.test.ts` (all): “takes one; and …”, “runs on SQLite 3.5” (and two more), a group',
      'in short (`one.test.ts`)',
    ]) {
      expect({ cell, findings: findingsOf(cell) }).toEqual({ cell, findings: [] })
    }
  })

  test('a test that does not exist, a missing file and an ambiguous one are found', () => {
    const noTest = 'line 1: one.test.ts has no test called: '
    expect(findingsOf('`one.test.ts`: takes two')).toEqual([`${noTest}takes two`])
    expect(findingsOf('`one.test.ts`: takes one')).toEqual([`${noTest}takes one`])
    expect(findingsOf('`one.test.ts`: a group, is no test')).toEqual([`${noTest}is no test`])
    expect(findingsOf('`one.test.ts`: a group stands alone')).toEqual([`${noTest}a group stands alone`])
    expect(findingsOf('`one.test.ts`: a…')).toEqual([`${noTest}a…`])
    expect(findWrongCitations('In `two.ts`,\nand `one.ts`.', files)).toEqual([
      'line 1: there is no file two.ts',
      'line 2: 2 files are called one.ts',
    ])
  })
})

test('asvs.md judges each requirement of level 1 and 2 once, but for the chapter that it names', () => {
  // The last requirement of level 1 or 2 in each section of ASVS 5.0.0. Those of level 3 come after it.
  const lastOfSections = `1.1.2 1.2.9 1.3.11 1.4.3 1.5.2 2.1.3 2.2.3 2.3.4 2.4.1 3.2.2 3.3.4 3.4.6 3.5.5 3.7.2
    4.1.3 4.2.1 4.3.2 4.4.4 5.1.1 5.2.3 5.3.2 5.4.3 6.1.3 6.2.12 6.3.4 6.4.4 6.5.5 6.6.3 6.8.4 7.1.3 7.2.4 7.3.2
    7.4.5 7.5.2 7.6.2 8.1.2 8.2.3 8.3.1 8.4.1 9.1.3 9.2.4 11.1.2 11.2.3 11.3.3 11.4.4 11.5.1 11.6.1 12.1.3 12.2.2
    12.3.4 13.1.1 13.2.5 13.3.2 13.4.5 14.1.2 14.2.4 14.3.3 15.1.3 15.2.3 15.3.7 16.1.1 16.2.5 16.3.4 16.4.3
    16.5.3 17.1.1 17.2.4 17.3.2`
  const asked = lastOfSections.split(/\s+/).flatMap((last) => {
    const [chapter, section, count] = last.split('.').map(Number)
    return Array.from({ length: count ?? 0 }, (_, n) => `${chapter}.${section}.${n + 1}`)
  })
  const text = readFileSync(join(ROOT, 'docs/asvs.md'), 'utf8')
  const rows = text.matchAll(/^\| (?<numbers>\d[\d., ]*) \| [^|]+ \| (?<verdict>yes|no|operator|–) \| \S/gm)
  const judged = [...rows].flatMap(({ groups: { numbers = '', verdict = '' } = {} }) =>
    numbers.split(', ').map((number) => ({ number, verdict })),
  )
  expect(judged.map(({ number }) => number).toSorted()).toEqual(asked.toSorted())
  const count = (wanted: string) => judged.filter(({ verdict }) => verdict === wanted).length
  expect(text).toContain(
    `Of ${asked.length} requirements, ${count('yes')} are met, ${count('no')} are not, ${count('operator')} are the operator's, and ${count('–')} do not apply.`,
  )
})
