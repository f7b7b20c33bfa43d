// Copies this checkout, for tests that build the same in another folder.
import { existsSync } from 'node:fs'
import { cp, mkdir, readdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { ROOT } from './client-package/entries.ts'

const MANIFESTS = ['package.json', 'package-lock.json', 'tsconfig.json']

/**
 * Libraries that share a script with sources. The bundler orders what is in a script by paths, so these are
 * copied, too.
 */
const BESIDE_SOURCES = new Set(['@noble', '@hpke', '@scure'])

/** Copies what is built from into a folder. Most libraries of others are those of this checkout. */
export async function copySources(folder: string): Promise<void> {
  const modules = join(folder, 'node_modules')
  await mkdir(join(modules, '@sotto'), { recursive: true })
  for (const name of ['packages', 'scripts', 'deploy', 'LICENSE', ...MANIFESTS])
    await cp(join(ROOT, name), join(folder, name), {
      recursive: true,
      filter: (path) => !/[\\/](?:node_modules|dist|dist-admin|\.dist-\w+)$/.test(path),
    })
  for (const name of await readdir(join(ROOT, 'node_modules'))) {
    const library = join(ROOT, 'node_modules', name)
    if (BESIDE_SOURCES.has(name)) await cp(library, join(modules, name), { recursive: true })
    else if (name !== '@sotto') await symlink(library, join(modules, name))
  }
  for (const name of ['client', 'crypto', 'mls', 'protocol', 'relay'])
    await symlink(join(folder, 'packages', name), join(modules, '@sotto', name))
  // Where a package needs other versions than the rest, npm gives it a folder of its own.
  for (const name of await readdir(join(ROOT, 'packages'))) {
    const own = join(ROOT, 'packages', name, 'node_modules')
    const to = join(folder, 'packages', name, 'node_modules')
    if (existsSync(own)) await cp(own, to, { recursive: true })
  }
}
