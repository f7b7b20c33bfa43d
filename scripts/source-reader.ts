// Finds the source files, and reads the imports of each file and the globals that it uses.
import { type Expression, parseSync, Visitor } from 'oxc-parser'

export interface Import {
  specifier: string
  line: number
  /** `import type`, `export type` or `import('x').T`, which the compiler removes. */
  isTypeOnly: boolean
}

/** A member of a global or of its return value, such as `Date.now` or `expect().rejects`; or `new Date()`. */
export interface GlobalUse {
  name: string
  line: number
}

export interface Source {
  imports: Import[]
  uses: GlobalUse[]
}

const patterns = [
  'packages/*/{src,test,bin}/**/*.{ts,tsx,mts,mjs}',
  '{bench,fuzz,scripts}/**/*.{ts,tsx,mts,mjs}',
]

/** @returns the paths of all source files, relative to the root, with `/` on every system. */
export function listSources(root: string): string[] {
  const paths = patterns.flatMap((pattern) => [...new Bun.Glob(pattern).scanSync({ cwd: root })])
  return paths.map((path) => path.replaceAll('\\', '/')).sort()
}

export function readSource(path: string, text: string): Source {
  const { program, errors } = parseSync(path, text)
  if (errors[0] !== undefined) throw new Error(`${path} cannot be parsed: ${errors[0].message}`)
  const imports: Import[] = []
  const uses: GlobalUse[] = []
  const lineOf = ({ start }: { start: number }) => text.slice(0, start).split('\n').length
  const addImport = (node: { start: number }, source: Expression | null, isTypeOnly: boolean) => {
    if (source?.type !== 'Literal' || typeof source.value !== 'string') return
    imports.push({ specifier: source.value, line: lineOf(node), isTypeOnly })
  }
  new Visitor({
    ImportDeclaration: (node) => addImport(node, node.source, node.importKind === 'type'),
    ExportNamedDeclaration: (node) => addImport(node, node.source, node.exportKind === 'type'),
    ExportAllDeclaration: (node) => addImport(node, node.source, node.exportKind === 'type'),
    ImportExpression: (node) => addImport(node, node.source, false),
    TSImportType: (node) => addImport(node, node.source, true),
    CallExpression(node) {
      const isRequire = node.callee.type === 'Identifier' && node.callee.name === 'require'
      const [source] = node.arguments
      if (isRequire && source !== undefined && source.type !== 'SpreadElement') addImport(node, source, false)
    },
    MemberExpression(node) {
      const name = globalName(node)
      if (name !== undefined) uses.push({ name, line: lineOf(node) })
    },
    NewExpression(node) {
      const isNow = globalName(node.callee) === 'Date' && node.arguments.length === 0
      if (isNow) uses.push({ name: 'new Date()', line: lineOf(node) })
    },
  }).visit(program)
  return { imports: imports.sort((a, b) => a.line - b.line), uses }
}

function globalName(node: Expression): string | undefined {
  if (node.type === 'Identifier') return node.name
  if (node.type === 'MetaProperty') return 'import.meta'
  if (node.type === 'CallExpression') return after(globalName(node.callee), '()')
  if (node.type !== 'MemberExpression' || node.computed) return undefined
  return node.property.type === 'Identifier'
    ? after(globalName(node.object), `.${node.property.name}`)
    : undefined
}

function after(name: string | undefined, rest: string): string | undefined {
  return name === undefined ? undefined : name + rest
}
