// `npm run build`: builds the package @sotto/client in packages/client/dist, ready for publishing. With
// `app`, it builds the web app in packages/web/dist instead.
import { copyFile, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { buildApp } from './app-build.mjs'
import { makeDeclarations } from './client-package/declarations.ts'
import { CLIENT, DIST, type Entry, ROOT, readEntries, readManifest } from './client-package/entries.ts'
import { buildScripts, scriptOf } from './client-package/scripts.ts'

/** Builds the package from scratch. @param folder the target; its content is removed */
export async function buildClient(folder: string = DIST): Promise<void> {
  await rm(folder, { recursive: true, force: true })
  const entries = await readEntries()
  // The package contains every library except Node's built-in modules. So applications get exactly the bytes
  // that were tested here, and no dependency can change later.
  const libraries = await buildScripts(entries, folder)
  const declarations = await makeDeclarations()
  for (const { name, text } of declarations) await Bun.write(join(folder, `types/${name}.d.ts`), text)
  // An entry without exports is imported only for its side effects.
  const entriesWithEffects = declarations
    .filter(({ exported }) => exported.length === 0)
    .map(({ name }) => name)
  const manifest = await publishedManifest(entries, entriesWithEffects)
  await Bun.write(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  await Bun.write(join(folder, 'THIRD-PARTY-LICENSES.md'), await licencesOf(libraries))
  await copyFile(join(CLIENT, 'README.md'), join(folder, 'README.md'))
  await copyFile(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'))
}

/** The published manifest. Its entries are the built files, and it has no dependencies. */
async function publishedManifest(
  entries: readonly Entry[],
  entriesWithEffects: readonly string[],
): Promise<Record<string, unknown>> {
  const { name, version, description, license } = await readManifest()
  const exports = entries.map((entry) => [
    entry.key,
    { types: `./types/${entry.name}.d.ts`, default: `./${scriptOf(entry)}` },
  ])
  return {
    name,
    version,
    description,
    license,
    type: 'module',
    engines: { node: '>=20' },
    sideEffects: entries
      .filter((entry) => entriesWithEffects.includes(entry.name))
      .map((entry) => `./${scriptOf(entry)}`),
    exports: { ...Object.fromEntries(exports), './package.json': './package.json' },
    publishConfig: { access: 'public' },
  }
}

async function licencesOf(packages: readonly string[]): Promise<string> {
  const parts = packages.map(async (name) => {
    const folder = join(ROOT, 'node_modules', name)
    const { version, license } = await Bun.file(join(folder, 'package.json')).json()
    const [file] = [...new Bun.Glob('LICEN[SC]E*').scanSync(folder)]
    if (file === undefined) throw new Error(`${name} has no licence`)
    const text = await readFile(join(folder, file), 'utf8')
    return `## ${name} ${version} (${license})\n\n${text.trim()}`
  })
  return ['# Software of others in this package', ...(await Promise.all(parts))].join('\n\n').concat('\n')
}

if (import.meta.main) process.argv[2] === 'app' ? buildApp() : await buildClient()
