// `npm run build`: builds @sotto/client for publishing into packages/client/dist, which is then the package to pack.
import { copyFile, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { makeDeclarations } from './client-package/declarations.ts'
import { CLIENT, DIST, type Entry, ROOT, readEntries, readManifest } from './client-package/entries.ts'
import { buildScripts, scriptOf } from './client-package/scripts.ts'

/** Builds the package anew. @param folder where to; all that is there is removed */
export async function buildClient(folder: string = DIST): Promise<void> {
  await rm(folder, { recursive: true, force: true })
  const entries = await readEntries()
  // Everything but Node's own modules is in the package: what an application installs is, byte for byte, what was tested
  // here, and no dependency can change under it.
  const libraries = await buildScripts(entries, folder)
  const declarations = await makeDeclarations()
  for (const { name, text } of declarations) await Bun.write(join(folder, `types/${name}.d.ts`), text)
  // What exports nothing is there for what it does.
  const doers = declarations.filter(({ exported }) => exported.length === 0).map(({ name }) => name)
  const manifest = await publishedManifest(entries, doers)
  await Bun.write(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  await Bun.write(join(folder, 'THIRD-PARTY-LICENSES.md'), await licencesOf(libraries))
  await copyFile(join(CLIENT, 'README.md'), join(folder, 'README.md'))
  await copyFile(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'))
}

/** The manifest as it is published: entries of built files, no dependencies. */
async function publishedManifest(
  entries: readonly Entry[],
  doers: readonly string[],
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
    sideEffects: entries.filter((entry) => doers.includes(entry.name)).map((entry) => `./${scriptOf(entry)}`),
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

if (import.meta.main) await buildClient()
