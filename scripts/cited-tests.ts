// Finds the files and tests that a document names and that do not exist. The last cell of a table's row names
// tests: after a test file, text consists of names of its tests, in full or cut short with `…`, perhaps after
// the name of their group. Text in brackets is a remark.
import { type Argument, type Expression, parseSync, Visitor } from 'oxc-parser'

/** The files that a document may name. */
export interface Files {
  /** Relative to the root. */
  readonly paths: readonly string[]
  readonly read: (path: string) => string
}

const FILE = /`(?<name>[\w.-][\w./-]*\.(?:ts|mts|mjs|md|json|css))`/g
/** What stands for the parts of a test's name that the test fills in. */
const FILLED_IN = '\0'
/** The least that is left of a name that is cut short. */
const LEAST_CHARACTERS = 12

/** @returns one finding for each file or test that a document names and that does not exist */
export function findWrongCitations(document: string, files: Files): string[] {
  return document.split('\n').flatMap((line, index) => {
    const evidence = /^\|.*\| (?<last>.*) \|$/.exec(line)?.groups?.last ?? ''
    const findings = [...wrongFiles(line, files), ...wrongTests(evidence, files)]
    return findings.map((finding) => `line ${index + 1}: ${finding}`)
  })
}

/** The names of the tests and of their groups in a test file, and each test's after the name of its group. */
export function testNamesIn(path: string, text: string): string[] {
  const names: string[] = []
  const groups: string[] = []
  new Visitor({
    CallExpression: ({ callee, arguments: [first] }) => {
      const root = rootOf(callee)
      const name = root === 'test' || root === 'describe' ? nameOf(first) : undefined
      if (root === 'describe') groups.push(name ?? '')
      // A name that is only filled in would be the name of any test.
      if (name === undefined || name === FILLED_IN) return
      names.push(name)
      const group = groups.at(-1)
      if (root === 'test' && group) names.push(`${group} ${name}`)
    },
    'CallExpression:exit': ({ callee }) => {
      if (rootOf(callee) === 'describe') groups.pop()
    },
  }).visit(parseSync(path, text).program)
  return names
}

function nameOf(argument: Argument | undefined): string | undefined {
  if (argument?.type === 'Literal' && typeof argument.value === 'string')
    return argument.value.replaceAll(/%[a-z]/g, FILLED_IN)
  if (argument?.type === 'TemplateLiteral')
    return argument.quasis.map(({ value }) => value.cooked).join(FILLED_IN)
  return undefined
}

// `test` in `test.each(cases)('name', …)`.
function rootOf(callee: Expression): string {
  if (callee.type === 'MemberExpression') return rootOf(callee.object)
  if (callee.type === 'CallExpression') return rootOf(callee.callee)
  return callee.type === 'Identifier' ? callee.name : ''
}

function wrongFiles(line: string, files: Files): string[] {
  return [...line.matchAll(FILE)].flatMap(([, name = '']) => {
    const { length } = filesCalled(name, files)
    if (length === 1) return []
    return [length === 0 ? `there is no file ${name}` : `${length} files are called ${name}`]
  })
}

function wrongTests(evidence: string, files: Files): string[] {
  const cited = [...evidence.matchAll(FILE)]
  return cited.flatMap((match, i) => {
    const [whole, name = ''] = match
    const [path] = filesCalled(name, files)
    if (!path?.endsWith('.test.ts')) return []
    const after = evidence.slice(match.index + whole.length, cited[i + 1]?.index)
    const unknown = firstUnknownTest(after, testNamesIn(path, files.read(path)))
    return unknown === undefined ? [] : [`${name} has no test called: ${unknown}`]
  })
}

// A file is named by its path or by the end of its path.
function filesCalled(name: string, { paths }: Files): string[] {
  return paths.includes(name) ? [name] : paths.filter((path) => path.endsWith(`/${name}`))
}

function firstUnknownTest(text: string, names: readonly string[]): string | undefined {
  let rest = plain(text).replace(/^[:;,.\s]+/, '')
  while (rest !== '') {
    const lengths = names.map((name) => Math.max(lengthOfWhole(name, rest), lengthOfCut(name, rest)))
    const longest = Math.max(0, ...lengths)
    if (longest === 0) return rest
    rest = rest.slice(longest).replace(/^[;,.\s]+/, '')
  }
  return undefined
}

// How many characters at the beginning of the text are the whole name.
function lengthOfWhole(name: string, text: string): number {
  return patternOf(plain(name), '(?=[;,.](?: |$)|$)').exec(text)?.[0].length ?? 0
}

// How many characters at the beginning of the text are the beginning of the name, and the `…` after it.
function lengthOfCut(name: string, text: string): number {
  const [cut = ''] = text.split('…')
  const beginning = cut.trimEnd()
  const isCut = cut.length < text.length && beginning.length >= LEAST_CHARACTERS
  return isCut && plain(name).startsWith(beginning) ? cut.length + 1 : 0
}

function patternOf(name: string, end: string): RegExp {
  const escaped = name.split(FILLED_IN).map((part) => part.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&'))
  return new RegExp(`^${escaped.join('.+?')}${end}`)
}

// Without remarks and quotation marks.
function plain(text: string): string {
  return text
    .replaceAll(/\([^()]*(?:\)|$)|^[^(]*\)/g, '')
    .replaceAll(/["“”]/g, '')
    .replaceAll(/\s+(?=[;,.]|$)/g, '')
}
