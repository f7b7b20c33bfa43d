// The built app, and a server for it.
import { join } from 'node:path'
import { adminFolder, appFolder, ensureApp } from '../../../scripts/app-build.mjs'

/** The folder of the built app. Builds it if `npm test` has not done it just before. */
export function builtApp(): string {
  ensureApp()
  return appFolder
}

/** The folder of the built admin page. */
export function builtAdminPage(): string {
  ensureApp()
  return adminFolder
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
