// The package as an application gets it: built, packed by npm, and installed in a folder outside the
// workspace.
import { afterAll, beforeAll } from 'bun:test'
import { copyFile, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type RelayProcess, startRelay } from '@sotto/relay/testing'
import { buildClient } from '../../../../scripts/client-package/build.ts'
import { makeProcessFolder } from '../process-folder.ts'

const ROOT = join(import.meta.dir, '../../../..')
/** Other packages that a test's application needs come from the workspace, so npm asks no registry. */
const WORKSPACE_MODULES = join(ROOT, 'node_modules')

const PACK_LIMIT_MS = 400_000

/** A built and packed client. */
export interface PackedClient {
  /** The tarball `npm publish` would send. */
  readonly tarball: string
  /** The built folder that was packed. */
  readonly folder: string
}

let packed: Promise<PackedClient> | undefined
/** The folders in which packages are installed. The key names the packages. */
const installed = new Map<string, Promise<string>>()

/** Builds and packs the client, once per process. Test files run in several processes at the same time. */
export function packClient(): Promise<PackedClient> {
  packed ??= pack()
  return packed
}

async function pack(): Promise<PackedClient> {
  const place = await makeProcessFolder('package')
  const folder = join(place, 'package')
  await buildClient(folder)
  const output = await run(['npm', 'pack', '--json', '--pack-destination', place, folder], place)
  const name = /"filename": "(?<name>[^"]+)"/.exec(output)?.groups?.name
  if (name === undefined) throw new Error(`npm packed nothing: ${output}`)
  return { tarball: join(place, name), folder }
}

/** A packed client and a relay, for the tests of a file. */
export interface PackedWorld {
  readonly client: PackedClient
  readonly relayUrl: string
}

/** Packs the client and starts a relay with these settings for the tests of a file. */
export function usePacked(env: Readonly<Record<string, string>> = {}): PackedWorld {
  let started: { readonly client: PackedClient; readonly relay: RelayProcess } | undefined
  beforeAll(async () => {
    started = { client: await packClient(), relay: await startRelay({ env }) }
  }, PACK_LIMIT_MS)
  afterAll(() => started?.relay.stop())
  const get = () => {
    if (!started) throw new Error('nothing has started')
    return started
  }
  return {
    get client() {
      return get().client
    },
    get relayUrl() {
      return get().relay.url
    },
  }
}

/** An application's folder. */
export interface App {
  readonly folder: string
  remove(): Promise<void>
}

/**
 * Makes an application with the packed client and packages of the workspace. Applications with the same
 * packages share one installation.
 */
export async function makeApp(
  client: PackedClient,
  files: Readonly<Record<string, string>>,
  others: readonly string[] = [],
): Promise<App> {
  const specifiers = [client.tarball, ...others.map((name) => `file:${join(WORKSPACE_MODULES, name)}`)]
  const key = specifiers.join()
  const installing = installed.get(key) ?? install(specifiers)
  installed.set(key, installing)
  const source = await installing
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'sotto-app-')))
  await copyFile(join(source, 'package.json'), join(folder, 'package.json'))
  await symlink(join(source, 'node_modules'), join(folder, 'node_modules'))
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(folder, path, '..'), { recursive: true })
    await writeFile(join(folder, path), text)
  }
  return { folder, remove: () => rm(folder, { recursive: true }) }
}

async function install(specifiers: readonly string[]): Promise<string> {
  const folder = await makeProcessFolder('installed')
  const manifest = { name: 'app', private: true, type: 'module' }
  await writeFile(join(folder, 'package.json'), JSON.stringify(manifest))
  await installInto(folder, specifiers)
  return folder
}

/** Installs packages in a folder with a package.json, without asking any registry. */
export async function installInto(folder: string, specifiers: readonly string[]): Promise<void> {
  const npm = ['npm', 'install', '--offline', '--no-audit', '--no-fund', '--ignore-scripts']
  await run([...npm, ...specifiers], folder)
}

/** Runs a command to its end and returns its standard output. @throws with all of its output if it fails */
export async function run(command: readonly string[], folder: string): Promise<string> {
  const child = Bun.spawn([...command], { cwd: folder, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
  const [output, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  if ((await child.exited) !== 0) throw new Error(`${command.join(' ')} failed:\n${output}${errors}`)
  return output
}
