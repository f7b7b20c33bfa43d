// Builds the one file for each system, with its hash and its bill of materials beside it, and packages of it.
import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ROOT } from '../client-package/entries.ts'
import { billOfMaterials } from './bill-of-materials.ts'
import { compile } from './compile.ts'
import { packForDebian } from './debian-package.ts'
import { type Target, withBunOf } from './targets.ts'

/** Where the built files are. */
export const DIST = join(ROOT, 'dist')

/** What is built, and where. */
export interface Order {
  readonly targets: readonly Target[]
  /** The folder for all that is built; `dist` if it is not there. */
  readonly folder?: string
  /** The public key (PEM) of who signs the files, by which a file knows its successors. */
  readonly publicKey?: string | undefined
  /** Is given a line about each file. */
  readonly print: (line: string) => void
}

/** Builds the file for each target, and `SHA256SUMS` of all files and packages that are in the folder. */
export async function buildRelay({ targets, folder = DIST, publicKey, print }: Order): Promise<void> {
  await mkdir(folder, { recursive: true })
  for (const target of targets) print(await buildOne(target, folder, publicKey))
  await writeHashes(folder)
}

/** Builds the same, and a package for Debian of each. The targets must be for Debian. */
export async function buildDebianPackages({ folder = DIST, ...order }: Order): Promise<void> {
  const { targets, print } = order
  await buildRelay({ ...order, folder })
  for (const target of targets) print(await packForDebian(target, folder))
  await writeHashes(folder)
}

async function writeHashes(folder: string): Promise<void> {
  const files = (await readdir(folder))
    .filter((name) => /^sotto-[a-z0-9-]+$|^sotto_.*\.deb$/.test(name))
    .sort()
  const lines = await Promise.all(files.map(async (name) => `${await hashOf(join(folder, name))}  ${name}\n`))
  await Bun.write(join(folder, 'SHA256SUMS'), lines.join(''))
  await rm(join(folder, 'SHA256SUMS.sig'), { force: true }) // It was of the former hashes.
}

async function buildOne(target: Target, folder: string, publicKey: string | undefined): Promise<string> {
  const name = `sotto-${target.name}`
  const file = join(folder, name)
  const packages = await withBunOf(target, (program) =>
    compile(program, file, { target: target.name, publicKey }),
  )
  const sha256 = await hashOf(file)
  const bill = await billOfMaterials({ name, sha256, packages, bunPackage: target.bunPackage })
  await Bun.write(`${file}.cdx.json`, `${JSON.stringify(bill, null, 2)}\n`)
  return `${name}: ${(Bun.file(file).size / 1e6).toFixed(0)} MB, SHA-256 ${sha256}`
}

/** The SHA-256 of a file, in hexadecimal. */
export async function hashOf(file: string): Promise<string> {
  const hasher = new Bun.CryptoHasher('sha256')
  for await (const chunk of Bun.file(file).stream()) hasher.update(chunk)
  return hasher.digest('hex')
}
