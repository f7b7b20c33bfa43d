// The documents name only files and tests that exist.
import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Files, findWrongCitations, testNamesIn } from './cited-tests.ts'

const ROOT = join(import.meta.dir, '..')

describe('a document names', () => {
  const paths = [...new Bun.Glob('{packages,scripts,bench,vectors,docs}/**/*').scanSync(ROOT)]
  const files: Files = {
    paths: [...paths, 'package-lock.json'].filter((path) => !path.includes('node_modules')),
    read: (path) => readFileSync(join(ROOT, path), 'utf8'),
  }

  test.each(['docs/security-review.md'])('only files and tests that exist: %s', (document) => {
    const text = files.read(document)
    expect(text).toContain('.test.ts`: ')
    expect(findWrongCitations(text, files)).toEqual([])
  })
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
    call('is no test', () => {})`
  const files: Files = { paths: ['a/src/one.ts', 'a/test/one.test.ts', 'b/one.ts'], read: () => text }
  const findingsOf = (cell: string): string[] => findWrongCitations(`| V1 | yes | ${cell} |`, files)

  test('tests are found, in full, cut short, with what they fill in, and with remarks', () => {
    expect(testNamesIn('one.test.ts', text).length).toBe(4)
    for (const cell of [
      '`one.test.ts`: takes one; and another, at once; counts to 3 and stops. `a/src/one.ts`',
      '`a/test/one.test.ts` (all): “takes one; and …”, “runs on SQLite” (and two more), a group',
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
    expect(findingsOf('`one.test.ts`: a…')).toEqual([`${noTest}a…`])
    expect(findWrongCitations('In `two.ts`,\nand `one.ts`.', files)).toEqual([
      'line 1: there is no file two.ts',
      'line 2: 2 files are called one.ts',
    ])
  })
})
