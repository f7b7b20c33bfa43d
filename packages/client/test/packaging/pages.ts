// Applications with the packed client, built by Vite as it builds its own templates, and served.
import { join } from 'node:path'
import { type App, makeApp, type PackedClient, run } from './packed.ts'

/** The `node_modules` of the workspace. */
export const MODULES = join(import.meta.dir, '../../../../node_modules')

export interface Page extends App {
  /** Its scripts, by file name. */
  readonly scripts: ReadonlyMap<string, Buffer>
}

/** Builds a page of one script for production, with Vite's default configuration. */
export async function buildPage(client: PackedClient, script: string): Promise<Page> {
  const head = '<meta charset="utf-8"><title>app</title><link rel="icon" href="data:,">'
  const html = `<!doctype html>${head}<script type="module" src="/main.ts"></script>`
  const app = await makeApp(client, { 'index.html': html, 'main.ts': script })
  await run(['node', join(MODULES, 'vite/bin/vite.js'), 'build', '--logLevel', 'warn'], app.folder)
  const assets = join(app.folder, 'dist/assets')
  const scripts = new Map<string, Buffer>()
  for (const name of new Bun.Glob('*.js').scanSync(assets))
    scripts.set(name, Buffer.from(await Bun.file(join(assets, name)).arrayBuffer()))
  return { ...app, scripts }
}

/** Serves a built page on its own origin. */
export function servePage(page: Page): { readonly url: string; stop(): Promise<void> } {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: (request) => {
      const path = new URL(request.url).pathname
      return new Response(Bun.file(join(page.folder, 'dist', path === '/' ? 'index.html' : path)))
    },
  })
  return { url: `http://127.0.0.1:${server.port}/`, stop: () => server.stop(true) }
}
