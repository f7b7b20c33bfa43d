// Installs the dependencies from package-lock.json and makes sure that Bun runs, in one process at a time.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { bunPath, describeInstallation, isStampCurrent, root, stampPath } from './installation.mjs'

export async function install() {
  const unlock = await lock()
  try {
    // The previous owner of the lock may have installed everything.
    if (isStampCurrent()) return
    if (!isLockInstalled()) installDependencies()
    ensureBunRuns()
    writeFileSync(stampPath, describeInstallation())
  } finally {
    unlock()
  }
}

// Outside the checkout, because an installation empties node_modules and must leave nothing else behind.
const lockPath = join(
  tmpdir(),
  `sotto-install-${process.getuid?.() ?? 'user'}-${createHash('sha256').update(root).digest('hex').slice(0, 16)}`,
)

async function lock() {
  for (let tries = 0; ; tries++) {
    try {
      mkdirSync(lockPath)
      writeFileSync(join(lockPath, 'pid'), String(process.pid))
      return () => rmSync(lockPath, { recursive: true, force: true })
    } catch (error) {
      if (error.code !== 'EEXIST') throw error
    }
    if (isLockStale()) {
      rmSync(lockPath, { recursive: true, force: true })
      continue
    }
    if (tries === 0) say('Another installation is running; waiting for it…')
    await sleep(200)
  }
}

function isLockStale() {
  try {
    const pid = Number(readFileSync(join(lockPath, 'pid'), 'utf8'))
    if (pid > 0) return !isAlive(pid)
    return isOlderThan(lockPath, 5_000)
  } catch {
    // The lock has no pid yet: its owner is about to write the pid, or died before it did.
    return isOlderThan(lockPath, 5_000)
  }
}

function isOlderThan(path, ageMs) {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats !== undefined && Date.now() - stats.mtimeMs > ageMs
}

function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}

// A node_modules from `npm ci` is accepted if npm's record in it matches the lock file.
function isLockInstalled() {
  try {
    const wanted = readPackages('package-lock.json')
    const present = readPackages('node_modules/.package-lock.json')
    return Object.entries(wanted).every(([path, entry]) => {
      if (!path.includes('node_modules/')) return true
      const found = present[path]
      // npm leaves out the optional packages for other systems.
      if (found === undefined) return entry.optional === true
      return found.version === entry.version && existsSync(join(root, path, 'package.json'))
    })
  } catch {
    return false
  }
}

function readPackages(path) {
  return JSON.parse(readFileSync(join(root, path), 'utf8')).packages
}

function installDependencies() {
  say('Installing what is missing…')
  const startedMs = Date.now()
  const clean = npmCi()
  if (clean.status !== 0) throw failedInstall(clean)
  say(`Installed in ${((Date.now() - startedMs) / 1000).toFixed(1)} s.`)
}

function npmCi() {
  const args = [
    'ci',
    '--include=dev',
    '--include=optional',
    '--no-audit',
    '--no-fund',
    '--no-progress',
    '--loglevel=error',
  ]
  // Under `npm start` and `npm test` this is the npm that runs this process. Otherwise the npm on the PATH is
  // used.
  const cli = process.env.npm_execpath
  const result = /npm-cli\.c?js$/.test(cli ?? '')
    ? spawnSync(process.execPath, [cli, ...args], { cwd: root, encoding: 'utf8' })
    : spawnSync('npm', args, {
        cwd: root,
        encoding: 'utf8',
        shell: process.platform === 'win32',
      })
  return {
    status: result.status,
    output: `${result.error?.message ?? ''}${result.stdout ?? ''}${result.stderr ?? ''}`,
  }
}

function failedInstall({ status, output }) {
  return new Error(
    `${output.trim()}\n\nThe dependencies could not be installed: \`npm ci\` ended with ${status ?? 'no status'}.\n` +
      `Check the network and npm's settings, then run \`npm ci\` in ${root} to see more.`,
  )
}

// Where npm does not run install scripts, the package `bun` holds only a placeholder until its own script has
// run.
function ensureBunRuns() {
  const wanted = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).dependencies.bun
  if (bunVersion() === wanted) return

  const script = spawnSync(process.execPath, [join(root, 'node_modules/bun/install.js')], {
    cwd: root,
    encoding: 'utf8',
  })
  const found = bunVersion()
  if (found === wanted) return

  throw new Error(
    `${script.stderr ?? ''}Bun ${wanted} is needed and does not run (${found ?? 'no version'} from ${bunPath}).\n` +
      `Remove the folder node_modules and try again. If that does not help, npm may have been told to leave out ` +
      `optional packages (see \`npm config get omit\`), or Bun may not support this system ` +
      `(${process.platform} ${process.arch}).`,
  )
}

function bunVersion() {
  const result = spawnSync(bunPath, ['--version'], { encoding: 'utf8' })
  return result.status === 0 ? result.stdout.trim() : undefined
}

function say(text) {
  process.stderr.write(`${text}\n`)
}
