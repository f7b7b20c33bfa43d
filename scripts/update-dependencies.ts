// `npm run update`: moves each dependency to the newest exact version with which the lock is complete, and
// prints what changed. It works in a temporary folder and changes the checkout last; with --dry-run it does
// not change the checkout.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import {
  compareTrees,
  findNewer,
  findNewScripts,
  followers,
  type Published,
  type PublishedVersion,
  readPins,
  repin,
} from './dependency-updates.ts'
import { findUnchecked, findUnnamed, type LockFile } from './lock-file.ts'

type Pins = Record<string, string>

/** The manifests of the workspace and its lock. A key of `manifests` is a path relative to the root. */
interface Workspace {
  manifests: Record<string, string>
  lock: string
}

// npm's error codes for a version that is unavailable or conflicts with other packages. Any other failure
// ends the command.
const unavailable = ['ETARGET', 'E404', 'ERESOLVE', 'EUSAGE']

const root = dirname(import.meta.dir)
const stop = new AbortController()

async function update({ isTrial, folder }: { isTrial: boolean; folder: string }) {
  const before = readWorkspace()
  const held: string[] = []
  const published = new Map<string, Published>()
  let now = before

  for (const leader of await findBehind(before)) {
    const { workspace, problem } = await moveOn(now, leader, folder, published)
    now = workspace
    if (problem !== undefined) held.push(problem)
  }
  report(before, now, held, published)
  if (now === before) return
  if (!isTrial) writeWorkspace(before, now)
  console.log(
    isTrial ? '\nNothing was written.' : '\nThe manifests and the lock are written. Run `npm test -- --all`.',
  )
}

/** @returns the outdated packages; for a follower, its leader instead. */
async function findBehind({ manifests }: Workspace): Promise<string[]> {
  const pins = readPins(manifests)
  const outdated = JSON.parse((await npm(['outdated', '--json'])) || '{}')
  const names = Object.keys(outdated).filter((name) => pins[name] !== undefined)
  return [...new Set(names.map((name) => followers[name]?.leader ?? name))].sort()
}

/** Tries the versions of a package and its followers, the newest first, until the lock is complete. */
async function moveOn(from: Workspace, name: string, folder: string, published: Map<string, Published>) {
  const pins = readPins(from.manifests)
  const current = pins[name] ?? ''
  const following = Object.keys(followers).filter((follower) => followers[follower]?.leader === name)
  for (const one of [name, ...following]) published.set(one, await lookUp(one))

  let problem: string | undefined
  for (const version of [...newerThan(name, current, published), current]) {
    const wanted: Pins = { [name]: version }
    for (const follower of following) {
      const range = followers[follower]?.range(await lookUpVersion(name, version)) ?? '*'
      const old = pins[follower] ?? ''
      const newest = newerThan(follower, old, published).find((one) => Bun.semver.satisfies(one, range))
      wanted[follower] = newest ?? old
    }
    const isSame = Object.entries(wanted).every(([one, version]) => pins[one] === version)
    if (isSame) continue
    const tried = await tryPins(from, wanted, folder)
    if ('workspace' in tried) return { workspace: tried.workspace, problem }
    problem ??= `${name} ${version}: ${tried.problem}`
  }
  return { workspace: from, problem }
}

function newerThan(name: string, current: string, published: Map<string, Published>): string[] {
  const known = published.get(name)
  return known === undefined ? [] : findNewer(current, known)
}

async function tryPins({ manifests, lock }: Workspace, pins: Pins, folder: string) {
  process.stderr.write(`Trying ${Object.entries(pins).flat().join(' ')}…\n`)
  const changed = Object.entries(manifests).map(([path, text]) => [path, repin(text, pins)] as const)
  for (const [path, text] of [...changed, ['package-lock.json', lock] as const]) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  try {
    await npm(['install', '--package-lock-only', ...quietly], folder)
    const newLock = readFileSync(join(folder, 'package-lock.json'), 'utf8')
    const [hole] = findHoles(JSON.parse(lock), JSON.parse(newLock))
    if (hole !== undefined) return { problem: `the lock would be incomplete: ${hole}` }
    await npm(['ci', '--dry-run', ...quietly], folder)
    return { workspace: { manifests: Object.fromEntries(changed), lock: newLock } }
  } catch (error) {
    if (error instanceof NpmError && unavailable.includes(error.code)) return { problem: error.message }
    throw error
  }
}

// The lock names no host, so that packages can be installed from any registry.
const quietly = ['--ignore-scripts', '--no-audit', '--no-fund', '--omit-lockfile-registry-resolved']

function findHoles(before: LockFile, after: LockFile): string[] {
  const known = new Set(findUnchecked(before))
  const unchecked = findUnchecked(after).filter((name) => !known.has(name))
  return [...findUnnamed(after), ...unchecked.map((name) => `${name} has no checksum`)]
}

async function lookUp(name: string): Promise<Published> {
  const found = JSON.parse(await npm(['view', name, 'versions', 'dist-tags', 'repository.url', '--json']))
  return {
    versions: [found.versions].flat(),
    latest: found['dist-tags'].latest,
    repository: found['repository.url'],
  }
}

async function lookUpVersion(name: string, version: string): Promise<PublishedVersion> {
  const found = JSON.parse(await npm(['view', `${name}@${version}`, 'version', 'dependencies', '--json']))
  return typeof found === 'string' ? { version: found } : found
}

class NpmError extends Error {
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

/**
 * @returns npm's output. `npm outdated` exits with a failure, but prints no error, if a package is outdated.
 */
async function npm(args: string[], cwd = root): Promise<string> {
  // Under `npm run` this is the npm that runs this process. Otherwise the npm on the PATH is used.
  const { npm_execpath: cli, npm_node_execpath: node = 'node' } = process.env
  const command = cli !== undefined && /npm-cli\.c?js$/.test(cli) ? [node, cli] : ['npm']
  const child = Bun.spawn([...command, ...args], { cwd, stdout: 'pipe', stderr: 'pipe', signal: stop.signal })
  const [output, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  stop.signal.throwIfAborted()
  const lines = errors.split('\n').filter((line) => line.startsWith('npm error'))
  if (child.exitCode === 0 || (args[0] === 'outdated' && lines.length === 0)) return output
  const [code = '', reason = '', ...details] = lines.map((line) => line.replace(/^npm error (code )?/, ''))
  throw new NpmError(code, [`npm ${args[0]}: ${code} ${reason}`, ...details].slice(0, 3).join('\n'))
}

function report(before: Workspace, now: Workspace, held: string[], published: Map<string, Published>) {
  const [old, pins] = [readPins(before.manifests), readPins(now.manifests)]
  const [oldLock, lock]: [LockFile, LockFile] = [JSON.parse(before.lock), JSON.parse(now.lock)]
  const moved = Object.keys(pins).filter((name) => pins[name] !== old[name])
  print(
    'Direct dependencies',
    'none moved',
    moved.map((name) => {
      return `${name} ${old[name]} → ${pins[name]}  ${published.get(name)?.repository ?? ''}`
    }),
  )
  print('Held back', 'none', held)
  print('All packages', 'none changed', compareTrees(oldLock, lock))
  print('New scripts at installation', 'none', findNewScripts(oldLock, lock))
}

function print(title: string, nothing: string, lines: string[]) {
  console.log(`${title}: ${lines.length === 0 ? nothing : ''}`.trim())
  for (const line of lines) console.log(`  ${line}`)
}

function readWorkspace(): Workspace {
  const read = (path: string) => readFileSync(join(root, path), 'utf8')
  const paths = ['package.json', ...new Bun.Glob('packages/*/package.json').scanSync({ cwd: root })]
  return {
    manifests: Object.fromEntries(paths.sort().map((path) => [path, read(path)])),
    lock: read('package-lock.json'),
  }
}

// Writes all files or none: if a write fails, all files get their old content again.
function writeWorkspace(before: Workspace, now: Workspace) {
  const filesOf = ({ manifests, lock }: Workspace) => ({ ...manifests, 'package-lock.json': lock })
  const writeAll = (files: Record<string, string>) => {
    for (const [path, text] of Object.entries(files)) writeFileSync(join(root, path), text)
  }
  try {
    writeAll(filesOf(now))
  } catch (error) {
    writeAll(filesOf(before))
    throw error
  }
}

const words = process.argv.slice(2)
const unknown = words.filter((word) => word !== '--dry-run')
if (unknown.length > 0) {
  console.error(`npm run update accepts only --dry-run, not ${unknown.join(' ')}`)
  process.exit(2)
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => stop.abort(new Error(`${signal}: nothing was changed`)))
}
const folder = mkdtempSync(join(tmpdir(), 'sotto-update-'))
try {
  await update({ isTrial: words.includes('--dry-run'), folder })
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
