// Debian's Chromium for tests: started by them, in a fresh profile, driven through its own protocol.

import { type Browser, type BrowserContext, chromium, type LaunchOptions, type Page } from 'playwright-core'
import { findChromium } from '../../../../scripts/find-chromium.mjs'

/** What keeps a headless Chromium to itself: no sandbox as root, no network of its own. */
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--host-resolver-rules=MAP sotto.test 127.0.0.1',
]

/** A host name that is this machine and, unlike its address, no secure context: pages there have no `crypto.subtle`. */
export const INSECURE_HOST = 'sotto.test'

/** Starts Chromium. Its profile is fresh and goes with it. */
export async function startChromium(flags: readonly string[] = []): Promise<Browser> {
  const options = optionsOfChromium()
  return await chromium.launch({ ...options, args: [...FLAGS, ...flags] })
}

/** Starts Chromium with the profile in a folder, where what a browser keeps is found by the next. */
export async function startChromiumWith(profile: string): Promise<BrowserContext> {
  return await chromium.launchPersistentContext(profile, optionsOfChromium())
}

function optionsOfChromium(): LaunchOptions {
  const executablePath = findChromium()
  if (!executablePath) throw new Error('no Chromium: npm test installs it, or set CHROMIUM to its path')
  // Pages are kept for the back button, as they are for people.
  const ignoreDefaultArgs = ['--disable-back-forward-cache']
  return { executablePath, args: FLAGS, ignoreDefaultArgs, headless: true }
}

/** An app under test: a module bundled for browsers, and the origin it is served from. */
export interface ServedApp {
  readonly url: string
  stop(): Promise<void>
}

/** Bundles `entry` as an application would, and serves it with an empty page at `/`; its workers beside it. */
export async function serveApp(entry: string, ...workers: readonly string[]): Promise<ServedApp> {
  const built = await Bun.build({
    entrypoints: [entry, ...workers],
    naming: '[name].[ext]',
    target: 'browser',
    format: 'esm',
    sourcemap: 'inline',
  })
  const scripts = new Map(built.outputs.map((output) => [output.path.replace(/^\.?\/?/, '/'), output]))
  const [main] = scripts.keys()
  const page = `<!doctype html><meta charset="utf-8"><title>test</title><script type="module" src="${main}"></script>`
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: (request) => {
      const script = scripts.get(new URL(request.url).pathname)
      if (script) return new Response(script, { headers: { 'content-type': 'text/javascript' } })
      return new Response(page, { headers: { 'content-type': 'text/html' } })
    },
  })
  return { url: `http://127.0.0.1:${server.port}`, stop: () => server.stop(true) }
}

/** Opens the app in a tab, once its script has run. */
export async function openTab(context: BrowserContext, app: ServedApp): Promise<Page> {
  const page = await context.newPage()
  await page.goto(app.url)
  await page.waitForFunction(() => 'isReady' in globalThis)
  return page
}
