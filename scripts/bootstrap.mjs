// Makes sure the dependencies, Bun among them, are installed; costs a few milliseconds when they are.
import { readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = dirname(dirname(fileURLToPath(import.meta.url)))

// The package `bun` keeps its program under this name on every system, not only on Windows.
export const bunPath = join(root, 'node_modules/bun/bin/bun.exe')

// Written last by an installation that ended well: whoever finds it need not look further.
export const stampPath = join(root, 'node_modules/.sotto-installed.json')

export async function ensureInstalled() {
  if (isStampCurrent()) return
  if (Number.parseInt(process.versions.node, 10) < 20) {
    throw new Error(`Node 20 or later is needed; this is ${process.version}.`)
  }
  const { install } = await import('./install.mjs')
  await install()
}

export function isStampCurrent() {
  try {
    return readFileSync(stampPath, 'utf8') === describeInstallation()
  } catch {
    return false
  }
}

// What the stamp holds. Programs and folders are described by size and time, so that a node_modules changed by hand,
// or brought over from another machine, is looked at again.
export function describeInstallation() {
  const bun = statSync(bunPath)
  const installed = statSync(join(root, 'node_modules/.package-lock.json'))
  return JSON.stringify({
    platform: `${process.platform}-${process.arch}`,
    bun: [bun.size, bun.mtimeMs],
    installedMs: installed.mtimeMs,
    lock: readFileSync(join(root, 'package-lock.json'), 'utf8'),
  })
}

// For the top of a command: an installation that fails ends it with the reason alone, without a stack.
export async function ensureInstalledOrExit() {
  try {
    await ensureInstalled()
  } catch (error) {
    process.stderr.write(`${error.message}\n`)
    process.exit(1)
  }
}
