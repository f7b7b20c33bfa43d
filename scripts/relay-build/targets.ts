// The systems that the one file is built for, and the Bun program of each.
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from '../client-package/entries.ts'
import { bunPath } from '../installation.mjs'

/** A system that the one file is built for. */
export interface Target {
  /** As in the name of the file: `linux-x64-musl`. */
  readonly name: string
  /** The npm package with Bun's program for it. */
  readonly bunPackage: string
}

/** Every system, Bun's name for it last. glibc is that of most distributions, musl that of Alpine. */
const targets: readonly Target[] = [
  ['linux-x64', 'linux-x64'],
  ['linux-x64-musl', 'linux-x64-musl'],
  ['linux-arm64', 'linux-aarch64'],
  ['linux-arm64-musl', 'linux-aarch64-musl'],
].map(([name = '', bunName]) => ({ name, bunPackage: `@oven/bun-${bunName}` }))

/** The targets with these names; all if there are none. @throws Error for a name that is none */
export function readTargets(names: readonly string[]): readonly Target[] {
  if (names.length === 0) return targets
  return names.map((name) => {
    const target = targets.find((each) => each.name === name)
    if (!target) throw new Error(`"${name}" is none of ${targets.map((each) => each.name).join(', ')}`)
    return target
  })
}

/** The target of the Bun that is installed here. @throws Error on a system that the file is not built for */
export async function ownTarget(): Promise<Target> {
  for (const target of targets) if (await isInstalled(target)) return target
  throw new Error('the file is built for Linux on x64 and arm64 only')
}

/**
 * Finds Bun's program for a target, or fetches the package from npm's registry. The bytes are those that the
 * lock file names.
 * @param use is given the program's path, which is valid until it resolves
 */
export async function withBunOf<T>(target: Target, use: (program: string) => Promise<T>): Promise<T> {
  if (await isInstalled(target)) {
    const program = join(folderOf(target), 'bin/bun')
    // The install script of `bun` moves the program that it chooses.
    return await use((await Bun.file(program).exists()) ? program : bunPath)
  }
  const folder = await mkdtemp(join(tmpdir(), 'sotto-bun-'))
  try {
    return await use(await fetchBun(target.bunPackage, folder))
  } finally {
    await rm(folder, { recursive: true })
  }
}

function isInstalled(target: Target): Promise<boolean> {
  return Bun.file(join(folderOf(target), 'package.json')).exists()
}

function folderOf({ bunPackage }: Target): string {
  return join(ROOT, 'node_modules', bunPackage)
}

async function fetchBun(bunPackage: string, folder: string): Promise<string> {
  const lock = await Bun.file(join(ROOT, 'package-lock.json')).json()
  const { version, integrity } = lock.packages[`node_modules/${bunPackage}`]
  await run(['npm', 'pack', `${bunPackage}@${version}`, '--pack-destination', folder, '--silent'], ROOT)
  const [archive = ''] = [...new Bun.Glob('*.tgz').scanSync({ cwd: folder, absolute: true })]
  const bytes = await Bun.file(archive).bytes()
  const found = `sha512-${new Bun.CryptoHasher('sha512').update(bytes).digest('base64')}`
  if (found !== integrity) throw new Error(`${bunPackage} is not the one that package-lock.json names`)
  await mkdir(join(folder, 'unpacked'))
  await run(['tar', '-xzf', archive, '-C', join(folder, 'unpacked')], folder)
  const program = join(folder, 'unpacked/package/bin/bun')
  await chmod(program, 0o755)
  return program
}

/** Runs a program. @throws Error with what it printed if it fails */
export async function run(command: string[], cwd: string): Promise<string> {
  const child = Bun.spawn(command, { cwd, stdout: 'pipe', stderr: 'pipe' })
  const [out, problem, status] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  if (status !== 0) throw new Error(`${command.join(' ')} failed: ${problem || out}`)
  return out
}
