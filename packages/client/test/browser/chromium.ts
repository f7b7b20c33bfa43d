// Starts Chromium for tests, with a fresh profile, and controls it through Chromium's own protocol.

import { type Browser, type BrowserContext, chromium, type LaunchOptions, type Page } from 'playwright-core'
import { findChromium } from '../../../../scripts/find-chromium.mjs'

/**
 * No sandbox, because root cannot use it; no requests by the browser itself; two fake cameras and a fake
 * microphone.
 */
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--host-resolver-rules=MAP sotto.test 127.0.0.1',
  '--use-fake-ui-for-media-stream',
  '--use-fake-device-for-media-stream=device-count=2',
]

/** How long playwright waits, in milliseconds. It is long, because a busy machine is slow. */
const PATIENCE_MS = 60_000

/**
 * A host name of this machine. Unlike 127.0.0.1, it is not a secure context: its pages have no
 * `crypto.subtle`.
 */
export const INSECURE_HOST = 'sotto.test'

/**
 * Starts a Chromium for the caller alone. Its fresh profile is removed when it ends.
 * @param flags added to those of every Chromium
 */
export async function startChromium(...flags: readonly string[]): Promise<Browser> {
  const options = optionsOfChromium()
  return patient(await chromium.launch({ ...options, args: [...(options.args ?? []), ...flags] }))
}

/** Starts Chromium with the profile in a folder. The next Chromium with this folder finds the stored data. */
export async function startChromiumWith(
  profile: string,
  options: LaunchOptions = {},
): Promise<BrowserContext> {
  const context = await chromium.launchPersistentContext(profile, { ...optionsOfChromium(), ...options })
  context.setDefaultTimeout(PATIENCE_MS)
  const browser = context.browser()
  if (browser) patient(browser)
  return context
}

/** Lets the pages of a browser be slow. */
function patient(browser: Browser): Browser {
  return browser.on('context', (context) => context.setDefaultTimeout(PATIENCE_MS))
}

function optionsOfChromium(): LaunchOptions {
  const executablePath = findChromium()
  if (!executablePath) throw new Error('no Chromium: npm test installs it, or set CHROMIUM to its path')
  // playwright turns off the cache that keeps pages for the back button. In people's browsers it is on.
  const ignoreDefaultArgs = ['--disable-back-forward-cache']
  // A signal must end this process. With its own handlers, playwright would close every Chromium and let the
  // process run on. Chromium ends when the pipe to this process closes.
  const signals = { handleSIGINT: false, handleSIGTERM: false, handleSIGHUP: false }
  return { executablePath, args: FLAGS, ignoreDefaultArgs, headless: true, ...signals }
}

/** An app under test: a module bundled for browsers, and the origin it is served from. */
export interface ServedApp {
  readonly url: string
  stop(): Promise<void>
}

/**
 * Bundles `entry` as an application would, and serves it in an empty page at `/`. The bundled workers are
 * served beside it.
 */
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

/** Opens the app in a tab. Resolves when the app's script has run. */
export async function openTab(context: BrowserContext, app: ServedApp): Promise<Page> {
  const page = await context.newPage()
  await page.goto(app.url)
  await page.waitForFunction(() => 'isReady' in globalThis)
  return page
}
