// The guide's components for Preact, Solid and React, in one page with one client, by `vite` and built.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type RelayProcess, startRelay } from '@sotto/relay/testing'
import type { BrowserContext, Page } from 'playwright-core'
import { sharedChromium } from '../browser/shared-chromium.ts'
import { Person, until } from '../people.ts'
import { fileOf, GUIDE } from './guide.ts'
import { makeApp, type PackedClient, packClient, run } from './packed.ts'
import { MODULES } from './pages.ts'
import { makeViteProject, startVite, type ViteProject, type ViteServer } from './vite-project.ts'

setDefaultTimeout(400_000)

const COMPONENTS = ['preact.tsx', 'solid.ts', 'react.tsx']
const LIBRARIES = ['preact', '@preact/signals', 'solid-js', 'react', 'react-dom']

// Mounts each framework's component on request, and counts who follows the client and what is read.
const main = `
import { SharedClient } from '@sotto/client/browser'
import { makeUseQuery, messages } from '@sotto/client/react'
import * as Preact from 'preact'
import * as React from 'react'
import { createRoot } from 'react-dom/client'
import { createComponent, render as renderSolid } from 'solid-js/web'
import { Chats as PreactChats } from './preact.tsx'
import { Chats as ReactChats } from './react.tsx'
import { chats } from './solid.ts'

const client = await SharedClient.open({ name: 'frameworks', relayUrl: new URLSearchParams(location.search).get('relay') })
client.on('friend_request', (request) => client.acceptFriend(request.friendship_id))
await client.create({ nickname: 'page' })
await client.connect()

const counts = { followers: 0, reads: 0 }
const on = client.on.bind(client)
client.on = (name, handler) => {
  const stop = on(name, handler)
  if (name !== 'changes') return stop
  counts.followers += 1
  return () => {
    counts.followers -= 1
    stop()
  }
}
for (const name of ['conversations', 'messages']) {
  const read = client[name].bind(client)
  client[name] = (...input) => {
    counts.reads += 1
    return read(...input)
  }
}

const place = (name) => {
  const element = document.createElement('div')
  element.id = name
  document.body.append(element)
  return element
}
const reactRoot = (name, element) => {
  const root = createRoot(place(name))
  root.render(React.createElement(React.StrictMode, null, element))
  return () => root.unmount()
}

const useQuery = makeUseQuery(React)
// Slow to render, so that React pauses between two of them while it renders in the background.
function Count({ id, tick }) {
  const { value = [] } = useQuery(client, messages(id))
  const end = performance.now() + 3
  while (performance.now() < end);
  return React.createElement('li', { title: tick }, String(value.length))
}
function Counts({ id }) {
  const [tick, setTick] = React.useState(0)
  const [isPending, startTransition] = React.useTransition()
  React.useEffect(() => {
    if (!isPending) startTransition(() => setTick(tick + 1))
  }, [isPending, tick])
  const all = Array.from({ length: 20 + (tick % 5) }, (_, key) => React.createElement(Count, { key, id, tick }))
  return React.createElement('ul', null, ...all)
}

const mounts = {
  preact: () => {
    const element = place('preact')
    Preact.render(Preact.h(PreactChats, { client }), element)
    return () => Preact.render(null, element)
  },
  solid: () => renderSolid(() => createComponent(() => chats(client), {}), place('solid')),
  react: () => reactRoot('react', React.createElement(ReactChats, { client })),
  counts: (id) => {
    const stop = reactRoot('counts', React.createElement(Counts, { id }))
    const seen = new Set()
    // Runs after each commit, before the browser paints.
    new MutationObserver(() => {
      seen.add([...new Set([...document.querySelectorAll('#counts li')].map((item) => item.textContent))].join(' beside '))
    }).observe(document.querySelector('#counts'), { childList: true, subtree: true, characterData: true })
    globalThis.seen = () => [...seen]
    return stop
  },
}
globalThis.mount = (name, id) => {
  globalThis.unmount = mounts[name](id)
}
globalThis.counts = counts
globalThis.alias = client.identity.aliasId
`

/** What the page's script has put into its global scope. */
interface Globals {
  readonly alias: string
  readonly counts: { readonly followers: number; readonly reads: number }
  mount(name: string, id?: string): void
  unmount(): void
  seen(): string[]
}

let relay: RelayProcess
let client: PackedClient
beforeAll(async () => {
  client = await packClient()
  relay = await startRelay()
})
afterAll(() => relay.stop())

test('the components have no type errors', async () => {
  const files: Record<string, string> = {}
  for (const name of COMPONENTS) files[name] = await fileOf(GUIDE, name)
  const compilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
    jsx: 'react-jsx',
    target: 'es2023',
    module: 'esnext',
    moduleResolution: 'bundler',
    lib: ['es2023', 'dom'],
    types: [],
  }
  const tsconfig = JSON.stringify({ compilerOptions, files: COMPONENTS })
  const app = await makeApp(client, { ...files, 'tsconfig.json': tsconfig }, [...LIBRARIES, '@types/react'])
  await run([process.execPath, join(MODULES, 'typescript/bin/tsc'), '-p', '.'], app.folder)
  await app.remove()
})

for (const mode of ['dev', 'preview'] as const) {
  describe(`by vite ${mode}`, () => {
    let project: ViteProject
    let server: ViteServer
    let context: BrowserContext
    let page: Page
    let bob: Person
    const errors: string[] = []
    const inPage = <T>(look: (globals: Globals) => T): Promise<T> =>
      page.evaluate(`(${look})(globalThis)`) as Promise<T>
    const mount = (name: string, id?: string): Promise<void> =>
      page.evaluate(
        ([given, contact]) => (globalThis as unknown as Globals).mount(given ?? '', contact),
        [name, id],
      )
    const counts = () => inPage((globals) => ({ ...globals.counts }))

    beforeAll(async () => {
      project = await makeViteProject(client, main, { libraries: LIBRARIES })
      for (const name of COMPONENTS) await writeFile(join(project.folder, name), await fileOf(GUIDE, name))
      server = await startVite(project, mode)
      context = await (await sharedChromium()).newContext()
      page = await context.newPage()
      page.on('pageerror', (error) => errors.push(String(error)))
      page.on('console', (message) => {
        if (['error', 'warning'].includes(message.type())) errors.push(message.text())
      })
      await page.goto(`${server.url}?relay=${encodeURIComponent(relay.url)}`)
      await until(
        'the page is ready',
        () => errors.length > 0 || inPage((globals) => 'alias' in globals),
        90_000,
      )
      expect(errors).toEqual([])
      bob = await Person.join('bob', relay.url)
      await bob.client.requestFriend(await inPage(({ alias }) => alias))
      await until('the page accepts', () => bob.heard.friend_accepted[0])
    })
    afterAll(async () => {
      await bob.client.close()
      await context.close()
      await server.stop()
      await project.remove()
    })

    for (const framework of ['preact', 'solid', 'react']) {
      test(`the component for ${framework} follows the client, and stops when it is unmounted`, async () => {
        const element = page.locator(`#${framework}`)
        const shows = (name: string) =>
          until(`it shows ${name}`, async () => (await element.textContent())?.includes(name))
        await mount(framework)
        await shows('bob')
        const carol = await Person.join(`friend in ${framework}`, relay.url)
        await carol.client.requestFriend(await inPage(({ alias }) => alias))
        await shows(carol.name)
        await carol.client.close()
        expect((await counts()).followers).toBe(1)

        await inPage(({ unmount }) => unmount())
        // Preact and React clean up after the page was drawn.
        await until('nobody follows', async () => (await counts()).followers === 0)
        const { reads } = await counts()
        expect(await element.textContent()).toBe('')
        const { conversationId } = await bob.client.conversation(await inPage(({ alias }) => alias))
        const sent = await bob.client.send(conversationId, 'nobody looks')
        await bob.sees(conversationId, sent.id, 'delivered')
        expect((await counts()).reads).toBe(reads)
        expect(await element.textContent()).toBe('')
        expect(errors).toEqual([])
      })
    }

    test('components of React with the same query never differ, also while React renders in the background', async () => {
      const { conversationId } = await bob.client.conversation(await inPage(({ alias }) => alias))
      const already = (await bob.client.messages(conversationId)).length
      await mount('counts', conversationId)
      await until('they show the messages', async () =>
        (await inPage(({ seen }) => seen())).includes(`${already}`),
      )
      for (let at = 0; at < 10; at++) {
        const { id } = await bob.client.send(conversationId, `${at}`)
        await bob.sees(conversationId, id, 'delivered')
      }
      await until('they show all', async () =>
        (await inPage(({ seen }) => seen())).includes(`${already + 10}`),
      )
      expect((await inPage(({ seen }) => seen())).filter((text) => text.includes('beside'))).toEqual([])
      expect((await counts()).followers).toBe(1)
      await inPage(({ unmount }) => unmount())
      expect((await counts()).followers).toBe(0)
      expect(errors).toEqual([])
    })
  })
}
