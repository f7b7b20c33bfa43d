// The packed client in a page: Vite builds it as any application, it is small enough, and it works in a real
// browser.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { basename, dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { type RelayProcess, startRelay } from '@sotto/relay/testing'
import { INSECURE_HOST } from '../browser/chromium.ts'
import { sharedChromium } from '../browser/shared-chromium.ts'
import { Person, until } from '../people.ts'
import { type PackedClient, packClient } from './packed.ts'
import { buildPage, MODULES, type Page, servePage } from './pages.ts'

const LIMIT_MS = 400_000

let client: PackedClient
beforeAll(async () => {
  client = await packClient()
}, LIMIT_MS)

describe('the entry', () => {
  const entryOf = async (key: string): Promise<string> => {
    const { exports } = await Bun.file(join(client.folder, 'package.json')).json()
    return join(client.folder, exports[key].default)
  }
  /** The modules from outside the package that an entry and the files behind it import. */
  const importsOf = async (key: string): Promise<string[]> => {
    const outside = new Set<string>()
    const files = new Set([await entryOf(key)])
    for (const file of files) {
      const text = await Bun.file(file).text()
      for (const { path } of new Bun.Transpiler({ loader: 'js' }).scanImports(text)) {
        if (path.startsWith('.')) files.add(join(dirname(file), path))
        else outside.add(path)
      }
    }
    return [...outside].sort()
  }

  for (const key of [
    '.',
    './browser',
    './forward-secrecy',
    './passphrase-vault',
    './pow-worker',
    './call-worker',
    './erasure-worker',
    './push-worker',
    './signals',
    './react',
  ]) {
    test(`${key} imports nothing from outside the package`, async () => {
      expect(await importsOf(key)).toEqual([])
    })
  }

  for (const key of ['./file-store', './into-file']) {
    test(`${key} imports only Node’s own modules from outside, by their full names`, async () => {
      const outside = await importsOf(key)
      expect(outside.length).toBeGreaterThan(0)
      expect(outside.filter((path) => !path.startsWith('node:'))).toEqual([])
    })
  }
})

test('the words in the package are the BIP-39 list', async () => {
  const words = '@scure/bip39/wordlists/english.js'
  const { wordlist: packed }: { wordlist: string[] } = await import(join(client.folder, 'lib/vendor', words))
  const { wordlist: plain }: { wordlist: string[] } = await import(join(MODULES, words))
  expect(packed).toEqual(plain)
  expect(packed).toHaveLength(2048)
  expect(await Bun.file(join(client.folder, 'lib/vendor', words)).text()).not.toContain('abandon')
})

// An application that registers, makes friends and exchanges messages. The tests limit its size.
const exchange = (store: string, imports: string): string => `
import { SottoClient } from '@sotto/client'
${imports}
const show = (value: unknown): void => document.body.append(String(value))
const [relayUrl = '', alias = ''] = location.hash.slice(1).split('#')
const client = await SottoClient.open({ relayUrl, store: ${store} })
client.on('friend_request', (friend) => client.acceptFriend(friend.friendship_id))
client.on('friend_accepted', (friend) => client.send(friend.alias_id, 'hello'))
client.on('message', (message) => show(message.text))
await client.create({ nickname: 'me' })
client.connect()
await client.requestFriend(alias)
`

const stores = [
  {
    name: 'with a store in memory',
    row: 'with `MemoryStore`',
    maxBytes: 39_500,
    script: exchange('new MemoryStore()', "import { MemoryStore } from '@sotto/client'"),
  },
  {
    name: 'with IndexedDB',
    row: 'with `IndexedDbStore`',
    maxBytes: 43_450,
    script: exchange(
      "await IndexedDbStore.open('app')",
      "import { IndexedDbStore } from '@sotto/client/browser'",
    ),
  },
]

/** The size in the first column of a row in the document of benchmarks. */
async function documentedBytes(row: string): Promise<number> {
  const text = await Bun.file(join(MODULES, '../docs/benchmarks.md')).text()
  const line = text.split('\n').find((found) => found.startsWith(`| ${row} |`))
  return Number(line?.split('|')[2]?.replace(',', ''))
}

interface Surroundings {
  readonly name: string
  readonly host: string
  /** Run in the page before its own script. */
  readonly before?: () => void
  readonly loadsNoble: boolean
}

const surroundings: readonly Surroundings[] = [
  { name: 'where WebCrypto has everything the client needs', host: '127.0.0.1', loadsNoble: false },
  {
    name: 'where WebCrypto lacks Ed25519',
    host: '127.0.0.1',
    before: () => {
      const { importKey } = SubtleCrypto.prototype
      Object.defineProperty(SubtleCrypto.prototype, 'importKey', {
        value(this: SubtleCrypto, ...input: Parameters<SubtleCrypto['importKey']>) {
          const unknown = new DOMException('Algorithm: Unrecognized name', 'NotSupportedError')
          return input[2] === 'Ed25519' ? Promise.reject(unknown) : Reflect.apply(importKey, this, input)
        },
      })
    },
    loadsNoble: true,
  },
  { name: 'where WebCrypto is missing, over http', host: INSECURE_HOST, loadsNoble: true },
]

describe('registering, making friends and exchanging messages in Chromium', () => {
  let relay: RelayProcess
  beforeAll(async () => {
    relay = await startRelay()
  })
  afterAll(() => relay.stop())

  /**
   * Exchanges messages between the page and a client in this process. Returns the file names of the scripts
   * that the page loaded.
   */
  const exchangeIn = async (app: Page, { host, before }: Surroundings): Promise<string[]> => {
    const server = servePage(app)
    const context = await (await sharedChromium()).newContext()
    const bob = await Person.join('bob', relay.url)
    try {
      const tab = await context.newPage()
      if (before) await tab.addInitScript(before)
      const loaded: string[] = []
      const errors: string[] = []
      tab.on('request', (request) => {
        if (request.resourceType() === 'script') loaded.push(basename(new URL(request.url()).pathname))
      })
      tab.on('pageerror', (error) => errors.push(String(error)))
      const url = new URL(server.url)
      url.hostname = host
      await tab.goto(`${url}#${relay.url}#${bob.alias}`)
      const request = await until('the page asks for friendship', () => {
        if (errors.length > 0) throw new Error(errors.join('\n'))
        return bob.heard.friend_request[0]
      })
      await bob.client.acceptFriend(request.friendship_id)
      const { conversationId } = await bob.receives('hello')
      await bob.client.send(conversationId, 'hello page')
      await until('the page shows the message', async () =>
        (await tab.textContent('body'))?.includes('hello page'),
      )
      expect(errors).toEqual([])
      return loaded
    } finally {
      await bob.client.close()
      await context.close()
      await server.stop()
    }
  }

  for (const { name, row, maxBytes, script } of stores) {
    describe(name, () => {
      let app: Page
      beforeAll(async () => {
        app = await buildPage(client, script)
      }, LIMIT_MS)
      afterAll(() => app.remove())

      for (const where of surroundings) {
        test(
          where.name,
          async () => {
            const loaded = await exchangeIn(app, where)
            expect(loaded.some((script) => script.startsWith('noble'))).toBe(where.loadsNoble)
            const sizes = loaded.map((script) => gzipSync(app.scripts.get(script) ?? '', { level: 9 }).length)
            const bytes = sizes.reduce((sum, size) => sum + size, 0)
            console.log(`the client ${name}, ${where.name}: ${bytes} bytes gzip -9`)
            // A build from which the bundler removed the client would be small as well.
            expect(bytes).toBeGreaterThan(20_000)
            if (where.loadsNoble) return
            expect(bytes).toBeLessThanOrEqual(maxBytes)
            expect(Math.abs(bytes - (await documentedBytes(row)))).toBeLessThan(bytes / 100)
          },
          LIMIT_MS,
        )
      }
    })
  }
})

interface Module {
  readonly name: string
  readonly script: string
  /** A text that is in every page with this module, and in no other page. */
  readonly mark: string
  readonly mostBytes: number
}

const modules: readonly Module[] = [
  {
    name: 'channels and the shop',
    script: `import { Channels, VanityShop } from '@sotto/client'
show((await new Channels(client).mine()).length + (await new VanityShop(client).search()).length)`,
    mark: '/vanity/search',
    mostBytes: 3000,
  },
  {
    name: 'media',
    script: `import { Media } from '@sotto/client'
const media = new Media(client)
await media.sendImage(alias, await (await fetch('/photo.jpg')).blob())
client.on('message', ({ conversationId, mediaUrl: mediaKey }) => mediaKey && media.download(conversationId, { mediaKey }))`,
    mark: '/media/upload-parts',
    // With files of both versions: under the key of the conversation, and under keys of their own; with
    // words, which have another place in each, and with previews that are files of their own.
    mostBytes: 8750,
  },
  {
    name: 'push',
    script: `import { Push } from '@sotto/client'
await new Push(client).subscribe(await navigator.serviceWorker.ready)`,
    mark: '/push/subscribe',
    mostBytes: 1500,
  },
]

describe('only applications that import a module pay for its size', () => {
  const isWorker = (name: string): boolean => name.startsWith('call-worker')
  interface Weight {
    /** The compressed size of the page's scripts, without workers. */
    readonly bytes: number
    readonly text: string
    readonly hasCallWorker: boolean
  }
  const weigh = async (script: string): Promise<Weight> => {
    const app = await buildPage(client, script)
    await app.remove()
    const scripts = [...app.scripts].filter(([name]) => !isWorker(name)).map(([, text]) => text)
    return {
      bytes: scripts.reduce((sum, text) => sum + gzipSync(text, { level: 9 }).length, 0),
      text: scripts.join('\n'),
      hasCallWorker: [...app.scripts.keys()].some(isWorker),
    }
  }
  const without = exchange('new MemoryStore()', "import { MemoryStore } from '@sotto/client'")
  let core: Weight
  beforeAll(async () => {
    core = await weigh(without)
  }, LIMIT_MS)

  for (const { name, script, mark, mostBytes } of modules) {
    test(
      `${name}: at most ${mostBytes} bytes`,
      async () => {
        const all = await weigh(`${without}\n${script}`)
        console.log(`${name}: ${all.bytes - core.bytes} bytes gzip -9`)
        expect([core.text.includes(mark), all.text.includes(mark)]).toEqual([false, true])
        expect(all.bytes - core.bytes).toBeLessThan(mostBytes)
      },
      LIMIT_MS,
    )
  }

  test(
    'calls: at most 13400 bytes, and the build has their worker',
    async () => {
      const calls = `import { Calls, webRtc } from '@sotto/client/browser'
const calls = new Calls(client, webRtc())
calls.onChange((call) => show(call.state))
await calls.call(alias)`
      const all = await weigh(`${without}\n${calls}`)
      console.log(`calls: ${all.bytes - core.bytes} bytes gzip -9, without the worker`)
      expect([core.hasCallWorker, all.hasCallWorker]).toEqual([false, true])
      for (const word of ['ice-config', 'RTCPeerConnection', 'send_busy'])
        expect(core.text).not.toContain(word)
      expect(all.text).toContain('ice-config')
      expect(all.bytes - core.bytes).toBeLessThan(13_400)
    },
    LIMIT_MS,
  )
})

// Registers with the proof of work done in a worker, accepts friend requests, and answers messages.
const script = `
import { SottoClient } from '@sotto/client'
import { IndexedDbStore, solveInWorker } from '@sotto/client/browser'

const relayUrl = new URLSearchParams(location.search).get('relay') ?? ''
const store = await IndexedDbStore.open('app')
const client = await SottoClient.open({ relayUrl, store, solveProofOfWork: solveInWorker })
client.on('friend_request', (friend) => client.acceptFriend(friend.friendship_id))
client.on('message', (message) => client.send(message.conversationId, message.text.toUpperCase()))
const identity = await client.create({ nickname: 'page' })
client.connect()
document.body.textContent = identity.aliasId
`

describe('in Chromium', () => {
  let relay: RelayProcess
  beforeAll(async () => {
    relay = await startRelay()
  })
  afterAll(() => relay.stop())

  test(
    'a built application registers, makes friends and answers through a relay of another origin',
    async () => {
      const app = await buildPage(client, script)
      const worker = [...app.scripts.keys()].find((name) => name.startsWith('pow-worker'))
      const server = servePage(app)
      const context = await (await sharedChromium()).newContext()
      try {
        const tab = await context.newPage()
        const workers: string[] = []
        const errors: string[] = []
        tab.on('worker', (started) => workers.push(started.url()))
        tab.on('pageerror', (error) => errors.push(String(error)))
        await tab.goto(`${server.url}?relay=${encodeURIComponent(relay.url)}`)
        const alias = await until('the page has registered', async () => {
          if (errors.length > 0) throw new Error(errors.join('\n'))
          return (await tab.textContent('body'))?.trim() || undefined
        })
        const bob = await Person.join('bob', relay.url)
        await bob.client.requestFriend(alias)
        await until('the page accepts', () => bob.heard.friend_accepted[0])
        await bob.client.send(alias, 'hello page')
        await bob.receives('HELLO PAGE')
        // The worker is loaded only once, to register, and outside the page. The sizes above do not include
        // it.
        const bytes = gzipSync(app.scripts.get(worker ?? '') ?? '', { level: 9 }).length
        console.log(`the worker for the proof of work: ${bytes} bytes gzip -9`)
        expect(bytes).toBeGreaterThan(1000)
        expect(bytes).toBeLessThanOrEqual(5000)
        expect(workers).toEqual([expect.stringContaining(worker ?? 'a worker of its own')])
        expect(errors).toEqual([])
        await bob.client.close()
      } finally {
        await context.close()
        await server.stop()
        await app.remove()
      }
    },
    LIMIT_MS,
  )
})
