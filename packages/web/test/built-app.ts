// The built app, and a server for it.
import { join } from 'node:path'
import { makeProcessFolder } from '../../client/test/process-folder.ts'

const WEB = join(import.meta.dir, '..')
const VITE = join(WEB, '../../node_modules/vite/bin/vite.js')

let built: Promise<string> | undefined

/** Builds the app, once for this process. Resolves with the folder. */
export function builtApp(): Promise<string> {
  built ??= build()
  return built
}

async function build(): Promise<string> {
  const folder = await makeProcessFolder('app')
  const options = ['--outDir', join(folder, 'dist'), '--logLevel', 'warn']
  const child = Bun.spawn(['node', VITE, 'build', ...options], { cwd: WEB, stdout: 'pipe', stderr: 'pipe' })
  const [output, errors, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  if (code !== 0) throw new Error(`the app was not built:\n${output}${errors}`)
  return join(folder, 'dist')
}

/** A server of plain files. */
export interface FileServer {
  readonly url: string
  stop(): Promise<void>
}

/** Serves the files of a folder, and `index.html` at `/`, as a host of plain files does. */
export function serveFolder(folder: string): FileServer {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: async (request) => {
      const { pathname } = new URL(request.url)
      const file = Bun.file(join(folder, pathname === '/' ? 'index.html' : pathname))
      return (await file.exists()) ? new Response(file) : new Response('', { status: 404 })
    },
  })
  return { url: `http://127.0.0.1:${server.port}`, stop: () => server.stop(true) }
}
