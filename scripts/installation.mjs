// Where the dependencies are installed, and whether they match package-lock.json.
import { readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = dirname(dirname(fileURLToPath(import.meta.url)))

// The package `bun` keeps its program under this name on every system, not only on Windows.
export const bunPath = join(root, 'node_modules/bun/bin/bun.exe')

// A successful installation writes this file last. If it is current, no further check is needed.
export const stampPath = join(root, 'node_modules/.sotto-installed.json')

export function isStampCurrent() {
  try {
    return readFileSync(stampPath, 'utf8') === describeInstallation()
  } catch {
    return false
  }
}

// The content of the stamp. It contains the size and time of Bun and the time of npm's record, so that a
// node_modules that was changed by hand or copied from another machine is checked again.
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
