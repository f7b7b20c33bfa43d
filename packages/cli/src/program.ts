// What this program is: a part of a clone, or one file with everything inside.
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** How a person calls this program from the folder where it was called. */
export const programCall = Bun.isStandaloneExecutable ? quoted(process.execPath) : 'npx sotto'

/** The file of this program, where it was when it started; undefined in a clone. */
export const programFile = Bun.isStandaloneExecutable ? process.execPath : undefined

/**
 * What starts this program again, also after a new version took the place of its file: then a path would
 * start the new one.
 */
export const ownCommand: readonly string[] = Bun.isStandaloneExecutable
  ? [process.platform === 'linux' ? '/proc/self/exe' : process.execPath]
  : [process.execPath, Bun.main]

/** The folder of the built app; undefined in a clone in which it has not been built. */
export function appFolder(): string | undefined {
  return builtFolder('dist')
}

/** The same for the admin page. */
export function adminFolder(): string | undefined {
  return builtFolder('dist-admin')
}

function builtFolder(name: string): string | undefined {
  // What the one file has inside lies beside its code.
  const folder = beside(Bun.isStandaloneExecutable ? `./${name}` : `../../web/${name}`)
  return existsSync(folder) ? folder : undefined
}

/** What the one file knows of itself. */
export interface Release {
  /** The system that it is for, as in the name of the file: `linux-x64-musl`. */
  readonly target: string
  /** The public key (PEM) of who signs its successors, if it was built with one. */
  readonly publicKey?: string
}

/** What this file knows of itself; undefined in a clone. */
export function releaseInside(): Release | undefined {
  if (!Bun.isStandaloneExecutable) return undefined
  return JSON.parse(readFileSync(beside('./release.json'), 'utf8'))
}

/** A package of others that is in the one file. */
export interface Licence {
  readonly name: string
  readonly version: string
  /** As the package names it, such as `MIT`. */
  readonly licence: string
  readonly text: string
}

/** The licences of what the one file has inside; undefined in a clone. */
export function licencesInside(): readonly Licence[] | undefined {
  if (!Bun.isStandaloneExecutable) return undefined
  return JSON.parse(readFileSync(beside('./licences.json'), 'utf8'))
}

function beside(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url))
}

function quoted(path: string): string {
  return /^[\w./+-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`
}
