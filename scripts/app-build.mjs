// Builds the web app into packages/web/dist, and the admin page into packages/web/dist-admin, if their
// sources have changed since the last build. Runs on plain Node; the build itself runs under Bun, so that it
// gives the same bytes everywhere.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join, relative, sep } from 'node:path'
import { bunPath, root } from './installation.mjs'

const web = join(root, 'packages/web')
/** Where the built app is. */
export const appFolder = join(web, 'dist')
/** Where the built admin page is. */
export const adminFolder = join(web, 'dist-admin')

// What the app is made of. Its libraries are those of the lock file.
const sources = [
  ...['packages/web/src', 'packages/web/public', 'packages/web/index.html', 'packages/web/vite.config.ts'],
  'packages/web/vite.admin.config.ts',
  ...['packages/web/package.json', 'packages/client/src', 'packages/crypto/src', 'packages/protocol/src'],
  'packages/mls/src',
  ...['scripts/client-package', 'scripts/web-app', 'scripts/package-licences.ts', 'package-lock.json'],
]

// The build writes this file last, with a hash of the sources. The relay serves no file whose name begins
// with a dot.
const stampName = '.sources'

/** Builds the app if that is needed. @throws Error with the output of the build if it fails */
export function ensureApp() {
  const wanted = describeSources()
  if (isCurrent(wanted)) return
  process.stderr.write('Building the app…\n')
  const startedMs = Date.now()
  buildApp(wanted)
  process.stderr.write(`Built in ${((Date.now() - startedMs) / 1000).toFixed(1)} s.\n`)
}

/** For the top of a command: if the build fails, it prints the reason, without a stack, and exits. */
export function ensureAppOrExit() {
  try {
    ensureApp()
  } catch (error) {
    process.stderr.write(`${error.message}\n`)
    process.exit(1)
  }
}

/** Builds both, and puts each in the place of the one before when it is complete. */
export function buildApp(described = describeSources()) {
  buildOne('vite.admin.config.ts', adminFolder, described)
  // The app is last: its stamp says that both are there.
  buildOne('vite.config.ts', appFolder, described)
}

function buildOne(config, place, described) {
  const folder = mkdtempSync(join(web, '.dist-'))
  try {
    buildInto(folder, config)
    writeFileSync(join(folder, stampName), described)
    chmodSync(folder, 0o755) // The relay may run as another user.
    rmSync(place, { recursive: true, force: true })
    renameSync(folder, place)
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    // Another process may have put the same there.
    if (stampOf(place) !== described) throw error
  }
}

function buildInto(folder, config) {
  const vite = join(root, 'node_modules/vite/bin/vite.js')
  const args = [vite, 'build', '--config', config, '--outDir', folder, '--emptyOutDir', '--logLevel', 'warn']
  // Libraries ask for NODE_ENV, and the bytes must not depend on who builds.
  const env = { ...process.env, NODE_ENV: 'production' }
  const result = spawnSync(bunPath, args, { cwd: web, env, encoding: 'utf8' })
  if (result.status === 0) return
  const output = `${result.error?.message ?? ''}${result.stdout ?? ''}${result.stderr ?? ''}`
  throw new Error(`${output.trim()}\n\nThe app could not be built. APP_DIR=off npm start starts without it.`)
}

function isCurrent(described) {
  return stampOf(adminFolder) === described && stampOf(appFolder) === described
}

function stampOf(folder) {
  const stamp = join(folder, stampName)
  return existsSync(stamp) ? readFileSync(stamp, 'utf8') : undefined
}

function describeSources() {
  const hash = createHash('sha256')
  for (const path of sources.flatMap((source) => filesIn(join(root, source)))) {
    if (/\.test\.tsx?$/.test(path)) continue
    const bytes = readFileSync(path)
    hash.update(`${relative(root, path).split(sep).join('/')} ${bytes.length}\n`).update(bytes)
  }
  return hash.digest('hex')
}

function filesIn(path) {
  if (statSync(path).isFile()) return [path]
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .sort()
}
