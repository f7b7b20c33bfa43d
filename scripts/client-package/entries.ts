// What the client's package is made of: its entries, read from its own manifest.
import { basename, join } from 'node:path'

/** The root of the checkout. */
export const ROOT = join(import.meta.dir, '../..')
/** The package as it stands in the workspace. */
export const CLIENT = join(ROOT, 'packages/client')
/** The package as it is published. */
export const DIST = join(CLIENT, 'dist')

/** One entry of the package. */
export interface Entry {
  /** Its key in `exports`, such as `./browser`. */
  readonly key: string
  /** The name of its files, without an ending. */
  readonly name: string
  /** Its source. */
  readonly source: string
}

/** The manifest of the workspace. */
export interface Manifest {
  readonly name: string
  readonly version: string
  readonly description: string
  readonly license: string
  readonly exports: Readonly<Record<string, string>>
}

/** The manifest of the client in the workspace. */
export async function readManifest(): Promise<Manifest> {
  return Bun.file(join(CLIENT, 'package.json')).json()
}

/** The entries, the core first: the others take their types from it. */
export async function readEntries(): Promise<readonly [Entry, ...Entry[]]> {
  const { exports } = await readManifest()
  const [core, ...others] = Object.entries(exports).map(([key, path]) => ({
    key,
    name: basename(path, '.ts'),
    source: join(CLIENT, path),
  }))
  if (core?.key !== '.') throw new Error('the first of the client’s exports is to be "."')
  return [core, ...others]
}
