// What package-lock.json must contain so that `npm ci` works on every system.

export interface LockedPackage {
  version?: string
  integrity?: string
  link?: boolean
  license?: string
  hasInstallScript?: boolean
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
  peerDependenciesMeta?: Record<string, { optional?: boolean }>
}

export interface LockFile {
  packages: Record<string, LockedPackage>
}

/**
 * @returns one line for each dependency of a package in the lock that the lock does not contain. `npm ci`
 *   refuses such a lock.
 */
export function findUnnamed({ packages }: LockFile): string[] {
  return Object.entries(packages).flatMap(([path, entry]) => {
    const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta = {} } = entry
    const needed = Object.entries({ ...peerDependencies, ...dependencies, ...optionalDependencies })
    return needed
      .filter(([name]) => peerDependenciesMeta[name]?.optional !== true)
      .filter(([name, range]) => !isNamed(packages, path, name, range))
      .map(([name, range]) => `${path || 'package.json'} asks for ${name} ${range}`)
  })
}

/** @returns the registry packages for which the lock has no checksum. */
export function findUnchecked({ packages }: LockFile): string[] {
  return Object.entries(packages)
    .filter(([path, entry]) => path.includes('node_modules/') && !entry.link && entry.integrity === undefined)
    .map(([path]) => nameOf(path))
}

/** The name of the package at a path of the lock. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
}

// Searches as Node does: in the package's own node_modules, then in those of the folders above it. The first
// package found counts.
function isNamed(packages: LockFile['packages'], from: string, name: string, range: string): boolean {
  const folders = from.split('/').map((_, index, parts) => parts.slice(0, parts.length - index).join('/'))
  const paths = [...folders.map((folder) => `${folder}/node_modules/${name}`), `node_modules/${name}`]
  const found = paths.map((path) => packages[path]).find((entry) => entry !== undefined)
  if (found === undefined) return false
  return found.link === true || Bun.semver.satisfies(found.version ?? '', range)
}
