// Which lines the check of comments refuses, and which it accepts.
import { expect, test } from 'bun:test'
import { findWideComments } from './check-comments.ts'

const words = (columns: number) =>
  'word '
    .repeat(columns)
    .slice(0, columns - 1)
    .concat('.')
const wide = (...lines: number[]) => lines.map((line) => `a.ts:${line}: a comment is wider than 110 columns`)

test.each([
  ['of one line', `const a = 1\n// ${words(108)}`, [2]],
  ['of several lines', `/**\n * ${words(80)}\n *\n * ${words(108)}\n */`, [4]],
  ['in one block', `/** ${words(104)} */`, [1]],
  ['beside code', `const a = 1 // ${words(96)}`, [1]],
  ['that is indented', `{\n    // ${words(104)}\n}`, [2]],
])('a comment %s that is one column too wide is refused', (_, text, lines) => {
  expect(findWideComments('a.ts', text)).toEqual(wide(...lines))
  expect(findWideComments('a.ts', text.replaceAll('.', ''))).toEqual([])
})

test('code may be as wide as the formatter leaves it', () => {
  const text = `const a = '// ${words(120)}'\nconst b = \`\n * ${words(120)}\n// ${words(120)}\n\`\nf(/* not c */ '${words(120)}')`
  expect(findWideComments('a.ts', text)).toEqual([])
})

test('a row of a table and a URL may be wider', () => {
  const text = [
    `// | ${words(120)} |`,
    '/**',
    ` * | ${words(120)} |`,
    ` * https://example.org/${'a'.repeat(120)}`,
    ' */',
  ].join('\n')
  expect(findWideComments('a.ts', text)).toEqual([])
})
