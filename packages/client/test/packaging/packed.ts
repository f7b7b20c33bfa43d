// The package as an application gets it: built, packed by npm, and installed in a folder outside the workspace.
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildClient } from '../../../../scripts/build-client.ts'

const ROOT = join(import.meta.dir, '../../../..')
/** What is not ours and a test's application needs: taken from the workspace, so that no registry is asked. */
const WORKSPACE_MODULES = join(ROOT, 'node_modules')
/** Where tools keep what they make: no test is told that the run is over, so nothing could remove it. */
const PLACE = join(WORKSPACE_MODULES, '.cache/sotto-client')

/** A built and packed client. */
export interface PackedClient {
  /** The tarball `npm publish` would send. */
  readonly tarball: string
  /** What it was packed from. */
  readonly folder: string
}

let packed: Promise<PackedClient> | undefined

/** Builds and packs the client, once for all tests of a run; the next run does it anew in the same place. */
export function packClient(): Promise<PackedClient> {
  packed ??= pack()
  return packed
}

async function pack(): Promise<PackedClient> {
  const folder = join(PLACE, 'package')
  await buildClient(folder)
  const output = await run(['npm', 'pack', '--json', '--pack-destination', PLACE, folder], PLACE)
  const name = /"filename": "(?<name>[^"]+)"/.exec(output)?.groups?.name
  if (name === undefined) throw new Error(`npm packed nothing: ${output}`)
  return { tarball: join(PLACE, name), folder }
}

/** An application's folder. */
export interface App {
  readonly folder: string
  remove(): Promise<void>
}

/** Installs the packed client, and packages of the workspace, in a new folder, without asking any registry. */
export async function makeApp(
  client: PackedClient,
  files: Readonly<Record<string, string>>,
  others: readonly string[] = [],
): Promise<App> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'sotto-app-')))
  await writeFile(
    join(folder, 'package.json'),
    JSON.stringify({ name: 'app', private: true, type: 'module' }),
  )
  const specifiers = [client.tarball, ...others.map((name) => `file:${join(WORKSPACE_MODULES, name)}`)]
  await run(
    ['npm', 'install', '--offline', '--no-audit', '--no-fund', '--ignore-scripts', ...specifiers],
    folder,
  )
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(folder, path, '..'), { recursive: true })
    await writeFile(join(folder, path), text)
  }
  return { folder, remove: () => rm(folder, { recursive: true }) }
}

/** Runs a command to its end and answers what it wrote. @throws with all of its output if it fails */
export async function run(command: readonly string[], folder: string): Promise<string> {
  const child = Bun.spawn([...command], { cwd: folder, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
  const [output, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  if ((await child.exited) !== 0) throw new Error(`${command.join(' ')} failed:\n${output}${errors}`)
  return output
}
