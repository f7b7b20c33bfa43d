// The guide's pages, as a project with Vite by its own words: in the development server, and built and
// previewed.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type RelayProcess, startRelay } from '@sotto/relay/testing'
import type { BrowserContext, Page } from 'playwright-core'
import { sharedChromium } from '../browser/shared-chromium.ts'
import { Person, until } from '../people.ts'
import { GUIDE, programOf } from './guide.ts'
import { makeApp, type PackedClient, packClient, run } from './packed.ts'
import { MODULES } from './pages.ts'
import { makeViteProject, startVite, type ViteProject } from './vite-project.ts'

setDefaultTimeout(400_000)

let relay: RelayProcess
let client: PackedClient
beforeAll(async () => {
  client = await packClient()
  relay = await startRelay()
})
afterAll(() => relay.stop())

/** A tab of a running project, and what it printed. */
interface Tab {
  readonly page: Page
  readonly printed: string[]
  readonly errors: string[]
}

/** Runs a project and passes its address and a context of Chromium that allows notifications. */
async function serving(
  project: ViteProject,
  mode: 'dev' | 'preview',
  use: (context: BrowserContext, url: string) => Promise<void>,
): Promise<void> {
  const server = await startVite(project, mode)
  const context = await (await sharedChromium()).newContext({ permissions: ['notifications'] })
  try {
    await use(context, server.url)
  } finally {
    await context.close()
    await server.stop()
    await project.remove()
  }
}

/** Opens a tab, and waits until it has printed a line that begins so. */
async function openTab(context: BrowserContext, url: string, line: string): Promise<Tab> {
  const page = await context.newPage()
  const tab: Tab = { page, printed: [], errors: [] }
  page.on('console', (message) => {
    const isError = message.type() === 'error' || message.type() === 'warning'
    const list = isError ? tab.errors : tab.printed
    list.push(message.text())
  })
  page.on('pageerror', (error) => tab.errors.push(String(error)))
  await page.goto(url)
  await until(`the tab prints "${line}"`, () => tab.printed.some((text) => text.startsWith(line)), 90_000)
  return tab
}

/** Delivers a push as the browser would, and returns the titles of the notifications that it showed. */
async function pushTo({ page }: Tab, url: string, data: string): Promise<readonly string[]> {
  const devTools = await page.context().newCDPSession(page)
  const registrationId = new Promise<string>((resolve) => {
    devTools.on('ServiceWorker.workerRegistrationUpdated', ({ registrations: [first] }) => {
      if (first) resolve(first.registrationId)
    })
  })
  await devTools.send('ServiceWorker.enable')
  const [worker] = page.context().serviceWorkers()
  if (!worker) throw new Error('the page has no service worker')
  await worker.evaluate(() => {
    const { registration } = globalThis as unknown as { registration: ServiceWorkerRegistration }
    const titles: string[] = []
    Object.assign(globalThis, { titles })
    registration.showNotification = async (title) => void titles.push(title)
  })
  const origin = new URL(url).origin
  await devTools.send('ServiceWorker.deliverPushMessage', {
    origin,
    registrationId: await registrationId,
    data,
  })
  const titles = (): Promise<string[]> => worker.evaluate(() => Reflect.get(globalThis, 'titles'))
  await until('the service worker shows a notification', async () => (await titles()).length > 0)
  return titles()
}

test('the pages have no type errors', async () => {
  const files = {
    'page.ts': (await programOf(GUIDE, 'ts page', relay.url)).source,
    'call.ts': (await programOf(GUIDE, 'ts call', relay.url)).source,
  }
  const compilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
    target: 'es2023',
    module: 'esnext',
    moduleResolution: 'bundler',
    lib: ['es2023', 'dom'],
    types: [],
  }
  const tsconfig = JSON.stringify({ compilerOptions, files: Object.keys(files) })
  const app = await makeApp(client, { ...files, 'tsconfig.json': tsconfig })
  await run([process.execPath, join(MODULES, 'typescript/bin/tsc'), '-p', '.'], app.folder)
  await app.remove()
})

for (const mode of ['dev', 'preview'] as const) {
  describe(`by vite ${mode}`, () => {
    test('the page runs in two tabs at once, and its service worker gets pushes', async () => {
      const { source } = await programOf(GUIDE, 'ts page', relay.url)
      const project = await makeViteProject(client, source)
      await serving(project, mode, async (context, url) => {
        const first = await openTab(context, url, 'this is u')
        const second = await openTab(context, url, 'this is u')
        const line = ({ printed }: Tab) => printed.find((text) => text.startsWith('this is u'))
        expect(line(second)).toBe(line(first))

        const alias = line(first)?.replace('this is ', '') ?? ''
        const bob = await Person.join('bob', relay.url)
        // Forward secrecy begins with the first contact: its script and its worker are served.
        const stocked = first.page.waitForResponse(
          (answer) => answer.url().endsWith('/key-packages') && answer.request().method() === 'POST',
        )
        await bob.client.requestFriend(alias)
        await until('the page accepts', () => bob.heard.friend_accepted[0])
        await bob.client.send(alias, 'hello tabs')
        for (const { printed } of [first, second])
          await until('both tabs hear it', () => printed.includes('received: hello tabs'))
        expect((await stocked).ok()).toBe(true)

        await bob.client.close()
        expect(await pushTo(first, url, '{"type":"call"}')).toEqual(['Somebody calls'])
        expect([...first.errors, ...second.errors]).toEqual([])

        // The button's first request to the relay comes after the wait for the service worker. What follows
        // needs a push service.
        const asked = first.page.waitForRequest((request) => request.url().includes('/push/vapid'))
        await first.page.click('button')
        await asked
      })
    })

    test('the page for calls makes a call from its beginning to its end', async () => {
      const { source } = await programOf(GUIDE, 'ts call', relay.url)
      await serving(await makeViteProject(client, source), mode, async (context, url) => {
        const { printed, errors } = await openTab(context, url, 'hangup')
        const states = printed.filter((text) => !text.startsWith('[vite]'))
        expect([...new Set(states)]).toEqual(['calling', 'connecting', 'connected', 'hangup'])
        expect(errors).toEqual([])
      })
    })
  })
}

describe('a linked package in vite dev', () => {
  const register = `
import { MemoryStore, SottoClient } from '@sotto/client'
import { solveInWorker } from '@sotto/client/browser'

const store = new MemoryStore()
const relayUrl = RELAY
const client = await SottoClient.open({ relayUrl, store, solveProofOfWork: solveInWorker })
client.on('error', ({ code }) => console.log(code))
await client.create({ nickname: 'linked' })
console.log('registered')
`
  const registerIn = async (change: (project: ViteProject) => Promise<void>): Promise<readonly string[]> => {
    const source = register.replace('RELAY', JSON.stringify(relay.url))
    const project = await makeViteProject(client, source, { from: 'link' })
    await change(project)
    const lines: string[] = []
    await serving(project, 'dev', async (context, url) => {
      const { printed } = await openTab(context, url, 'registered')
      lines.push(...printed.filter((text) => !text.startsWith('[vite]')))
    })
    return lines
  }

  test('does the proof of work in the page and says so, because Vite does not serve the worker', async () => {
    expect(await registerIn(async () => {})).toEqual(['UNSUPPORTED', 'registered'])
  })

  test('does it in the worker if the configuration allows the package’s folder', async () => {
    const lines = await registerIn(({ folder }) =>
      writeFile(
        join(folder, 'vite.config.mjs'),
        `export default { server: { fs: { allow: ['.', ${JSON.stringify(client.folder)}] } } }`,
      ),
    )
    expect(lines).toEqual(['registered'])
  })
})
