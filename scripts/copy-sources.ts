// Copies this checkout, for tests that build the same in another folder.
import { existsSync } from 'node:fs'
import { cp, mkdir, readdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { ROOT } from './client-package/entries.ts'

const MANIFESTS = ['package.json', 'package-lock.json', 'tsconfig.json']

/** Copies what is built from into a folder. Only the libraries of others are those of this checkout. */
export async function copySources(folder: string): Promise<void> {
  const modules = join(folder, 'node_modules')
  await mkdir(join(modules, '@sotto'), { recursive: true })
  for (const name of ['packages', 'scripts', 'deploy', 'LICENSE', ...MANIFESTS])
    await cp(join(ROOT, name), join(folder, name), {
      recursive: true,
      filter: (path) => !/[\\/](?:node_modules|dist|dist-admin|\.dist-\w+)$/.test(path),
    })
  for (const name of await readdir(join(ROOT, 'node_modules')))
    if (name !== '@sotto') await symlink(join(ROOT, 'node_modules', name), join(modules, name))
  for (const name of ['client', 'crypto', 'mls', 'protocol', 'relay'])
    await symlink(join(folder, 'packages', name), join(modules, '@sotto', name))
  // Where a package needs other versions than the rest, npm gives it a folder of its own.
  for (const name of await readdir(join(ROOT, 'packages'))) {
    const own = join(ROOT, 'packages', name, 'node_modules')
    const to = join(folder, 'packages', name, 'node_modules')
    // A copy, so that its paths sort among the sources as they do here: the order is part of what is built.
    if (existsSync(own)) await cp(own, to, { recursive: true })
  }
}
