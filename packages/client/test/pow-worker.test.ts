// The proof of work in a page: in a worker if the server has the worker's script, in slices on the page's
// thread otherwise. The page stays responsive.
import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { verifyProofOfWork } from '@sotto/crypto'
import { type RelayProcess, startRelay } from '@sotto/relay/testing'
import type { BrowserContext, Page } from 'playwright-core'
import { sharedChromium } from './browser/shared-chromium.ts'
import { until } from './people.ts'

setDefaultTimeout(240_000)

const SOURCE = join(import.meta.dir, '../src')
const VITE = join(import.meta.dir, '../../../node_modules/vite/bin/vite.js')
const PAGE =
  '<!doctype html><meta charset="utf-8"><title>work</title><script type="module" src="/main.js"></script>'

interface Served {
  readonly url: string
  stop(): void
}

let context: BrowserContext
let relay: RelayProcess
let folder: string
const served: Served[] = []

beforeAll(async () => {
  context = await (await sharedChromium()).newContext()
  relay = await startRelay({ env: { LIMIT_POW_DIFFICULTY: '4' } })
  folder = await mkdtemp(join(tmpdir(), 'sotto-worker-'))
  await writeFile(join(folder, 'index.html'), PAGE.replace('/main.js', '/main.ts'))
  await writeFile(
    join(folder, 'main.ts'),
    `import { MemoryStore, SottoClient } from ${JSON.stringify(join(SOURCE, 'client.ts'))}
import { solveInWorker, solverIn } from ${JSON.stringify(join(SOURCE, 'browser.ts'))}
Object.assign(globalThis, { MemoryStore, SottoClient, solveInWorker, solverIn, isReady: true })`,
  )
})
afterEach(() => {
  for (const each of served.splice(0)) each.stop()
})
afterAll(async () => {
  await context?.close()
  await relay?.stop()
  await rm(folder, { recursive: true })
})

/** Serves these files, and the page for every other path, as servers of single-page applications do. */
function serve(files: ReadonlyMap<string, Blob | string>, headers: Record<string, string> = {}): Served {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: (request) => {
      const path = new URL(request.url).pathname
      const file = files.get(path)
      if (file !== undefined) {
        const type = path.endsWith('.js') ? 'text/javascript' : 'text/html'
        return new Response(file, { headers: { 'content-type': type, ...headers } })
      }
      return new Response(files.get('/') ?? PAGE, { headers: { 'content-type': 'text/html', ...headers } })
    },
  })
  const app = { url: `http://127.0.0.1:${server.port}`, stop: () => void server.stop(true) }
  served.push(app)
  return app
}

async function bundledByBun(withWorker: boolean): Promise<Map<string, Blob | string>> {
  const entrypoints = [
    join(folder, 'main.ts'),
    ...(withWorker ? [join(SOURCE, 'account/pow-worker.ts')] : []),
  ]
  const { outputs } = await Bun.build({ entrypoints, target: 'browser', format: 'esm', naming: '[name].js' })
  return new Map(outputs.map((output) => [output.path.replace(/^\.?\/?/, '/'), output]))
}

let builtByVite: Promise<Map<string, Blob | string>> | undefined

function bundledByVite(): Promise<Map<string, Blob | string>> {
  builtByVite ??= buildByVite()
  return builtByVite
}

async function buildByVite(): Promise<Map<string, Blob | string>> {
  const outDir = join(folder, 'dist')
  // Vite runs in a separate Node process, as in an application's build.
  const vite = ['node', VITE, 'build', folder, '--outDir', outDir, '--emptyOutDir', '--logLevel', 'error']
  expect(await Bun.spawn(vite, { stdout: 'ignore', stderr: 'inherit' }).exited).toBe(0)
  const files = new Map<string, Blob | string>()
  for (const path of new Bun.Glob('**/*').scanSync(outDir)) {
    files.set(`/${path}`, await Bun.file(join(outDir, path)).text())
    if (path === 'index.html') files.set('/', await Bun.file(join(outDir, path)).text())
  }
  return files
}

async function open(app: Served): Promise<Page> {
  const page = await context.newPage()
  await page.goto(app.url)
  await page.waitForFunction(() => 'isReady' in globalThis)
  return page
}

/**
 * Makes the page solve a challenge. Returns the nonce, the progress reports, how often the page's own thread
 * ran something else meanwhile, and the paths of the loaded resources.
 */
function solve(page: Page, challenge: string, difficulty: number) {
  return page.evaluate(
    async ([text, zeros]) => {
      const { solveInWorker } = globalThis as unknown as typeof import('../src/browser.ts')
      let ticks = 0
      const ticking = setInterval(() => {
        ticks += 1
      }, 4)
      const reports: number[] = []
      const nonce = await solveInWorker({
        challenge: text,
        difficulty: zeros,
        maxAttempts: 64 * 16 ** zeros,
        onProgress: (attempts) => reports.push(attempts),
        signal: undefined,
      })
      clearInterval(ticking)
      const scripts = performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname)
      return { nonce, reports, ticks, scripts }
    },
    [challenge, difficulty] as const,
  )
}

for (const [name, bundle] of [
  ['Vite', bundledByVite],
  ['Bun, with the worker as a separate entry', () => bundledByBun(true)],
] as const) {
  test(`bundled by ${name}, the worker solves the proof of work and the page stays responsive`, async () => {
    const page = await open(serve(await bundle()))
    const workers: string[] = []
    page.on('worker', (worker) => workers.push(worker.url()))
    const { nonce, reports, ticks } = await solve(page, `${name} 1`, 5)
    expect(await verifyProofOfWork({ challenge: `${name} 1`, nonce, difficulty: 5 })).toBe(true)
    expect(workers.length).toBe(1)
    expect(workers[0]).toContain('pow-worker')
    expect(reports.length).toBeGreaterThan(0)
    // A page that did the work at once on its own thread would run nothing else before the answer.
    expect(ticks).toBeGreaterThan(10)
    await until('the worker has ended', () => page.workers().length === 0)
  })
}

test('a bundle without the worker solves the proof of work in slices', async () => {
  const page = await open(serve(await bundledByBun(false)))
  const { nonce } = await solve(page, 'no worker', 3)
  expect(await verifyProofOfWork({ challenge: 'no worker', nonce, difficulty: 3 })).toBe(true)
})

test('a page whose policy forbids workers solves the proof of work in slices', async () => {
  const policy = { 'content-security-policy': "worker-src 'none'" }
  const page = await open(serve(await bundledByBun(true), policy))
  const { nonce } = await solve(page, 'no worker', 3)
  expect(await verifyProofOfWork({ challenge: 'no worker', nonce, difficulty: 3 })).toBe(true)
})

test('the event error reports that a page without its worker registers on its own thread', async () => {
  const policy = { 'content-security-policy': "worker-src 'none'" }
  const page = await open(serve(await bundledByBun(true), policy))
  const told = await page.evaluate(async (relayUrl) => {
    const { MemoryStore, SottoClient, solveInWorker } =
      globalThis as unknown as typeof import('../src/client.ts') & typeof import('../src/browser.ts')
    const store = new MemoryStore()
    const client = await SottoClient.open({ relayUrl, store, solveProofOfWork: solveInWorker })
    const errors: string[] = []
    client.on('error', ({ code, message }) => errors.push(`${code}: ${message}`))
    await client.create({ nickname: 'page' })
    return errors
  }, relay.url)
  expect(told).toEqual([
    'UNSUPPORTED: the worker for the proof of work does not start, so this thread does the work',
  ])
})

test('a page registers with its worker at a relay on another origin, and an abort signal ends the worker', async () => {
  const page = await open(serve(await bundledByVite()))
  const steps = await page.evaluate(async (relayUrl) => {
    const { MemoryStore, SottoClient, solveInWorker } =
      globalThis as unknown as typeof import('../src/client.ts') & typeof import('../src/browser.ts')
    const open = () =>
      SottoClient.open({ relayUrl, store: new MemoryStore(), solveProofOfWork: solveInWorker })
    const client = await open()
    const errors: string[] = []
    client.on('error', ({ code }) => errors.push(code))
    const reports: string[] = []
    const identity = await client.create({
      nickname: 'page',
      onProgress: ({ step }) => {
        if (reports.at(-1) !== step) reports.push(step)
      },
    })
    const abort = new AbortController()
    const ended = await (await open())
      .create({
        nickname: 'page',
        signal: abort.signal,
        onProgress: ({ step }) => {
          if (step === 'proof_of_work') setTimeout(() => abort.abort(), 1)
        },
      })
      .then(
        () => 'registered',
        (error: { code: string }) => error.code,
      )
    return { reports, errors, alias: identity.aliasId, ended }
  }, relay.url)
  expect(steps.reports).toEqual(['derive_keys', 'proof_of_work', 'register', 'challenge', 'sign', 'verify'])
  expect(steps.errors).toEqual([])
  expect(steps.alias).toMatch(/^u[0-9]{8}$/)
  expect(['ABORTED', 'registered']).toContain(steps.ended)
  await until('the worker has ended', () => page.workers().length === 0)
})
