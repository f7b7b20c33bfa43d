// Copies this checkout, for tests that build the same in another folder.
import { spawnSync } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'
import { cp, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { ROOT } from './client-package/entries.ts'

const MANIFESTS = ['package.json', 'package-lock.json', 'tsconfig.json']

/**
 * Copies what is built from into a folder, with the libraries of others: bundlers order what is in a script
 * by paths, so all of it must lie as it lies here. Libraries are linked where the file system can do that.
 */
export async function copySources(folder: string): Promise<void> {
  for (const name of ['packages', 'scripts', 'deploy', 'LICENSE', ...MANIFESTS])
    await cp(join(ROOT, name), join(folder, name), {
      recursive: true,
      filter: (path) => !/[\\/](?:node_modules|dist|dist-admin|\.dist-\w+)$/.test(path),
    })
  const owners = (await readdir(join(ROOT, 'packages'))).map((name) => join('packages', name))
  for (const owner of ['.', ...owners]) {
    const libraries = join(ROOT, owner, 'node_modules')
    if (existsSync(libraries)) copyTree(libraries, join(folder, owner, 'node_modules'))
  }
}

/** Copies a folder with its symbolic links, which are relative. */
function copyTree(from: string, to: string): void {
  const isCopied = [['--link'], []].some((words) => {
    const { status } = spawnSync('cp', ['--archive', ...words, from, to], { stdio: 'ignore' })
    if (status !== 0) rmSync(to, { recursive: true, force: true })
    return status === 0
  })
  if (!isCopied) throw new Error(`${from} could not be copied`)
}
