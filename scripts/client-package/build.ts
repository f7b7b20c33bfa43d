// Builds the package @sotto/client, ready for publishing.
import { copyFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { licenceOf } from '../package-licences.ts'
import { makeDeclarations } from './declarations.ts'
import { CLIENT, DIST, type Entry, ROOT, readEntries, readManifest } from './entries.ts'
import { buildScripts, scriptOf } from './scripts.ts'

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
  const licences = await Promise.all(packages.map((name) => licenceOf(join(ROOT, 'node_modules', name))))
  const parts = licences.map(
    ({ name, version, licence, text }) => `## ${name} ${version} (${licence})\n\n${text}`,
  )
  return `${['# Software of others in this package', ...parts].join('\n\n')}\n`
}
