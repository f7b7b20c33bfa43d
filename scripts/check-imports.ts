// Checks the import rules between packages and between rooms (the folders of a package's source), and finds
// files that import each other in a circle. Run by `npm run check`.
import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { checkImport, checkUse } from './import-rules.ts'
import { type Import, listSources, readSource, type Source } from './source-reader.ts'

interface CheckedFile extends Source {
  path: string
  /** `target` is the file of this repository that is imported; undefined for other modules. */
  imports: (Import & { target: string | undefined })[]
}

/** @returns one line for each violation: `file:line imports X: rule`. */
export function checkTree(root: string): string[] {
  const entries = readEntries(root)
  const files = listSources(root).map((path): CheckedFile => {
    const { imports, uses } = readSource(path, readFileSync(join(root, path), 'utf8'))
    const targetOf = ({ specifier }: Import) =>
      entries.get(specifier) ?? resolveRelative(root, path, specifier)
    return { path, uses, imports: imports.map((found) => ({ ...found, target: targetOf(found) })) }
  })
  return [...files.flatMap(findBrokenRules), ...findCircles(files)]
}

function findBrokenRules({ path, imports, uses }: CheckedFile): string[] {
  const brokenImports = imports.flatMap((found) => {
    const relative = found.specifier.startsWith('.') ? found.target : undefined
    const rule = checkImport(path, found, relative)
    return rule === undefined ? [] : [`${path}:${found.line} imports ${found.specifier}: ${rule}`]
  })
  const brokenUses = uses.flatMap((use) => {
    const rule = checkUse(path, use)
    return rule === undefined ? [] : [`${path}:${use.line} uses ${use.name}: ${rule}`]
  })
  return [...brokenImports, ...brokenUses]
}

/**
 * The source file of each export of our packages: `packages/client/src/browser.ts` for
 * `@sotto/client/browser`.
 */
function readEntries(root: string): Map<string, string> {
  const entries = new Map<string, string>()
  for (const manifest of new Bun.Glob('packages/*/package.json').scanSync({ cwd: root })) {
    const { name, exports = {} } = JSON.parse(readFileSync(join(root, manifest), 'utf8'))
    for (const [key, path] of Object.entries<string>(exports)) {
      entries.set(posix.join(name, key), posix.join(posix.dirname(manifest.replaceAll('\\', '/')), path))
    }
  }
  return entries
}

function resolveRelative(root: string, file: string, specifier: string): string | undefined {
  if (!specifier.startsWith('.')) return undefined
  const path = posix.normalize(posix.join(posix.dirname(file), specifier))
  const candidates = [path, `${path}.ts`, `${path}.tsx`, `${path}/index.ts`]
  const isFile = (candidate: string) =>
    existsSync(join(root, candidate)) && statSync(join(root, candidate)).isFile()
  return candidates.find(isFile) ?? path
}

// Searches depth-first along all imports, types included. An import of a file on the current path closes a
// circle. Each circle is reported once, starting with the file where the search entered it.
function findCircles(files: CheckedFile[]): string[] {
  const byPath = new Map(files.map((file) => [file.path, file]))
  const finished = new Set<string>()
  const circles: string[] = []

  function visit(path: string, trail: string[]) {
    if (finished.has(path)) return
    for (const { target, line, specifier } of byPath.get(path)?.imports ?? []) {
      if (target === undefined || !byPath.has(target)) continue
      const start = [...trail, path].indexOf(target)
      if (start === -1) visit(target, [...trail, path])
      else {
        const circle = [...[...trail, path].slice(start), target].join(' → ')
        circles.push(`${path}:${line} imports ${specifier}: closes a circle, ${circle}`)
      }
    }
    finished.add(path)
  }
  for (const { path } of files) visit(path, [])
  return circles
}

if (import.meta.main) {
  const violations = checkTree(dirname(import.meta.dir))
  for (const violation of violations) console.error(violation)
  if (violations.length > 0) process.exitCode = 1
}
