// Reads the entries of the client package from its manifest, and names the package's folders.
import { basename, join } from 'node:path'

/** The root of the checkout. */
export const ROOT = join(import.meta.dir, '../..')
/** The folder of the package in the workspace. */
export const CLIENT = join(ROOT, 'packages/client')
/** The folder of the built package, as it is published. */
export const DIST = join(CLIENT, 'dist')

/** One entry of the package. */
export interface Entry {
  /** Its key in `exports`, such as `./browser`. */
  readonly key: string
  /** The name of its files, without the file extension. */
  readonly name: string
  /** The path of its source file. */
  readonly source: string
}

/** A package.json of the workspace. */
export interface Manifest {
  readonly name: string
  readonly version: string
  readonly description: string
  readonly license: string
  readonly exports: Readonly<Record<string, string>>
}

/** Reads the client's package.json. */
export async function readManifest(): Promise<Manifest> {
  return Bun.file(join(CLIENT, 'package.json')).json()
}

/** The entries of the package. The core comes first, because the others import their shared types from it. */
export async function readEntries(): Promise<readonly [Entry, ...Entry[]]> {
  const { exports } = await readManifest()
  const [core, ...others] = Object.entries(exports).map(([key, path]) => ({
    key,
    name: basename(path, '.ts'),
    source: join(CLIENT, path),
  }))
  if (core?.key !== '.') throw new Error('the first of the client’s exports must be "."')
  return [core, ...others]
}
