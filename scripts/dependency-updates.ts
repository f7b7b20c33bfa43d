// The decisions and reports of `npm run update`, without requests to the registry.
import { type LockedPackage, type LockFile, nameOf } from './lock-file.ts'

/** The registry's data about one version of a package. */
export interface PublishedVersion {
  version: string
  dependencies?: Record<string, string>
}

/** The registry's data about a package. */
export interface Published {
  versions: string[]
  latest: string
  repository?: string
}

interface Follower {
  leader: string
  why: string
  range: (leader: PublishedVersion) => string
}

/**
 * Packages whose version depends on another package, their leader. All others move to the newest version with
 * which the lock is complete.
 */
export const followers: Record<string, Follower> = {
  'oxc-parser': {
    leader: 'knip',
    why: 'knip depends on it too, and one copy is enough',
    range: ({ dependencies }) => dependencies?.['oxc-parser'] ?? '*',
  },
  '@types/bun': {
    leader: 'bun',
    why: 'newer types would name functions that the runtime lacks',
    range: ({ version }) => `<=${version}`,
  },
  'react-dom': {
    leader: 'react',
    why: 'both must have the same version',
    range: ({ version }) => version,
  },
}

/** @returns the versions above `current` and up to the latest, without pre-releases, the newest first. */
export function findNewer(current: string, { versions, latest }: Published): string[] {
  return versions
    .filter((version) => /^\d+\.\d+\.\d+$/.test(version))
    .filter((version) => isAbove(version, current) && !isAbove(version, latest))
    .sort((a, b) => Bun.semver.order(b, a))
}

function isAbove(version: string, other: string): boolean {
  return Bun.semver.order(version, other) > 0
}

/**
 * @returns the version of each package that the manifests name, without our own packages.
 * @throws if a version is not exact, or manifests name different versions of a package
 */
export function readPins(manifests: Record<string, string>): Record<string, string> {
  const read = Object.entries(manifests).map(([path, text]) => ({ path, ...JSON.parse(text) }))
  const ours = new Set<string>(read.map(({ name }) => name))
  const pins: Record<string, string> = {}
  for (const { path, dependencies, devDependencies } of read) {
    for (const [name, version] of Object.entries<string>({ ...dependencies, ...devDependencies })) {
      if (ours.has(name)) continue
      if (!/^\d/.test(version)) throw new Error(`${path} asks for ${name} ${version}, not for one version`)
      pins[name] ??= version
      if (pins[name] !== version)
        throw new Error(`${path} asks for ${name} ${version}, another for ${pins[name]}`)
    }
  }
  return pins
}

/** @returns the manifest with these versions of its dependencies, otherwise unchanged. */
export function repin(manifest: string, pins: Record<string, string>): string {
  const { dependencies, devDependencies } = JSON.parse(manifest)
  const old = Object.entries<string>({ ...dependencies, ...devDependencies })
  return old.reduce((text, [name, version]) => {
    return text.replace(`"${name}": "${version}"`, `"${name}": "${pins[name] ?? version}"`)
  }, manifest)
}

/**
 * @returns one line for each package of the whole tree that was added, removed or changed, with its licence.
 */
export function compareTrees(before: LockFile, after: LockFile): string[] {
  const [old, now] = [readTree(before), readTree(after)]
  return [...new Set([...old.keys(), ...now.keys()])].sort().flatMap((name) => {
    const [left, right] = [describe(old.get(name)), describe(now.get(name))]
    if (left.versions === right.versions && left.licences === right.licences) return []
    if (left.versions === '') return [`+ ${name} ${right.versions} (${right.licences})`]
    if (right.versions === '') return [`- ${name} ${left.versions} (${left.licences})`]
    return [`  ${name} ${change(left.versions, right.versions)} (${change(left.licences, right.licences)})`]
  })
}

/** @returns the packages that run a script at their installation and did not do so before. */
export function findNewScripts(before: LockFile, after: LockFile): string[] {
  const scriptsOf = (lock: LockFile) =>
    [...readTree(lock)]
      .filter(([, entries]) => entries.some(({ hasInstallScript }) => hasInstallScript === true))
      .map(([name]) => name)
  const old = new Set(scriptsOf(before))
  return scriptsOf(after).filter((name) => !old.has(name))
}

function readTree({ packages }: LockFile): Map<string, LockedPackage[]> {
  const tree = new Map<string, LockedPackage[]>()
  for (const [path, entry] of Object.entries(packages)) {
    if (!path.includes('node_modules/') || entry.link === true) continue
    tree.set(nameOf(path), [...(tree.get(nameOf(path)) ?? []), entry])
  }
  return tree
}

function describe(entries: LockedPackage[] = []): { versions: string; licences: string } {
  return {
    versions: listOf(entries.map(({ version = '?' }) => version)),
    licences: listOf(entries.map(({ license = 'no licence named' }) => license)),
  }
}

function listOf(words: string[]): string {
  return [...new Set(words)].sort().join(' and ')
}

function change(left: string, right: string): string {
  return left === right ? left : `${left} → ${right}`
}
