// Holds the lines between packages and between the relay's rooms; run by `npm run check`.
import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { checkImport, findReservedGlobals } from './import-rules.ts'
import { type Import, lineAt, scanSource } from './source-scanner.ts'

interface CheckedFile {
  path: string
  code: string
  imports: (Import & { target: string | undefined })[]
}

/** @returns one line a violation: `file:line imports X: rule`. */
export function checkTree(root: string): string[] {
  const files = readSources(root)
  const violations = files.flatMap((file) => [
    ...file.imports.flatMap((found) => {
      const rule = checkImport(file.path, found, found.target)
      return rule === undefined ? [] : [`${file.path}:${found.line} imports ${found.specifier}: ${rule}`]
    }),
    ...findReservedGlobals(file.path, file.code).map(
      ({ offset, used, rule }) => `${file.path}:${lineAt(file.code, offset)} uses ${used}: ${rule}`,
    ),
  ])
  return [...violations, ...findCycles(files)]
}

function readSources(root: string): CheckedFile[] {
  const paths = [...new Bun.Glob('packages/*/{src,test,bin}/**/*.{ts,tsx,mjs}').scanSync({ cwd: root })]
  return paths
    .map((path) => path.replaceAll('\\', '/'))
    .sort()
    .map((path) => {
      const { code, imports } = scanSource(readFileSync(join(root, path), 'utf8'))
      return {
        path,
        code,
        imports: imports.map((found) => ({ ...found, target: resolveRelative(root, path, found.specifier) })),
      }
    })
}

function resolveRelative(root: string, file: string, specifier: string): string | undefined {
  if (!specifier.startsWith('.')) return undefined
  const path = posix.normalize(posix.join(posix.dirname(file), specifier))
  const candidates = [path, `${path}.ts`, `${path}.tsx`, `${path}/index.ts`]
  const isFile = (candidate: string) =>
    existsSync(join(root, candidate)) && statSync(join(root, candidate)).isFile()
  return candidates.find(isFile) ?? path
}

// Depth first along what is imported at run time. A file's first path that comes back to itself is its cycle; each
// cycle is told once, from the file where it was entered.
function findCycles(files: CheckedFile[]): string[] {
  const byPath = new Map(files.map((file) => [file.path, file]))
  const finished = new Set<string>()
  const cycles: string[] = []

  function visit(path: string, trail: string[]) {
    if (finished.has(path)) return
    for (const { target, isTypeOnly, line, specifier } of byPath.get(path)?.imports ?? []) {
      if (target === undefined || isTypeOnly || !byPath.has(target)) continue
      const start = [...trail, path].indexOf(target)
      if (start === -1) visit(target, [...trail, path])
      else {
        const circle = [...[...trail, path].slice(start), target].join(' → ')
        cycles.push(`${path}:${line} imports ${specifier}: closes a cycle, ${circle}`)
      }
    }
    finished.add(path)
  }
  for (const { path } of files) visit(path, [])
  return cycles
}

if (import.meta.main) {
  const violations = checkTree(dirname(import.meta.dir))
  for (const violation of violations) console.error(violation)
  if (violations.length > 0) process.exitCode = 1
}
