// A project with Vite, made by the words of the guide, and the servers that run it.
import { copyFile, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileOf, GUIDE } from './guide.ts'
import { installInto, type PackedClient, run } from './packed.ts'
import { MODULES } from './pages.ts'

const VITE = join(MODULES, 'vite/bin/vite.js')

/** A project in a folder of its own. */
export interface ViteProject {
  readonly folder: string
  remove(): Promise<void>
}

/**
 * Makes a project with the guide's files and this `main.ts`. Unlike the applications of `makeApp` it has a
 * real `node_modules`, because Vite serves only files inside of a project.
 * @param from the packed client, as the guide says, or a link to its folder, as it says not to
 * @param libraries other packages of the workspace
 */
export async function makeViteProject(
  client: PackedClient,
  main: string,
  { from = 'archive', libraries = [] }: { from?: 'archive' | 'link'; libraries?: readonly string[] } = {},
): Promise<ViteProject> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'sotto-vite-')))
  for (const name of ['index.html', 'vite.config.mjs', 'service-worker.js'])
    await writeFile(join(folder, name), await fileOf(GUIDE, name))
  await writeFile(join(folder, 'main.ts'), main)
  await run(['npm', 'init', '-y'], folder)
  const archive = `./${basename(client.tarball)}`
  await copyFile(client.tarball, join(folder, archive))
  const others = libraries.map((name) => `file:${join(MODULES, name)}`)
  await installInto(folder, [from === 'archive' ? archive : client.folder, ...others])
  return { folder, remove: () => rm(folder, { recursive: true }) }
}

/** A running Vite. */
export interface ViteServer {
  readonly url: string
  stop(): Promise<void>
}

/** Starts `vite`, or builds the project and starts `vite preview`. */
export async function startVite({ folder }: ViteProject, mode: 'dev' | 'preview'): Promise<ViteServer> {
  if (mode === 'preview') await run(['node', VITE, 'build', '--logLevel', 'warn'], folder)
  const command = ['node', VITE, mode, '--host', '127.0.0.1', '--port', '0']
  const env = { ...process.env, NO_COLOR: '1' }
  const server = Bun.spawn(command, { cwd: folder, env, stdin: 'ignore', stdout: 'pipe', stderr: 'inherit' })
  const stop = async (): Promise<void> => {
    server.kill()
    await server.exited
  }
  let printed = ''
  const decoder = new TextDecoder()
  const reader = server.stdout.getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    printed += decoder.decode(value, { stream: true })
    const url = /Local: +(?<url>http:\S+\/)/.exec(printed)?.groups?.url
    if (url === undefined) continue
    const drained = drain(reader)
    return { url, stop: () => stop().then(() => drained) }
  }
  await stop()
  throw new Error(`vite ${mode} did not start:\n${printed}`)
}

/** Reads what comes, because Vite ends with an error if it prints more than somebody reads. */
async function drain(reader: { read(): Promise<{ readonly done: boolean }> }): Promise<void> {
  while (!(await reader.read()).done);
}
