// The packed client in a page: built by Vite as any application, small enough, and at work in a real browser.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { basename, dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { type RelayProcess, startRelay } from '@sotto/relay/testing'
import { packWords } from '../../../../scripts/client-package/word-list.ts'
import { INSECURE_HOST, startChromium } from '../browser/chromium.ts'
import { Person, until } from '../people.ts'
import { type PackedClient, packClient } from './packed.ts'
import { buildPage, MODULES, type Page, servePage } from './pages.ts'

const LIMIT_MS = 180_000

let client: PackedClient
beforeAll(async () => {
  client = await packClient()
}, LIMIT_MS)

describe('what is imported', () => {
  const entryOf = async (key: string): Promise<string> => {
    const { exports } = await Bun.file(join(client.folder, 'package.json')).json()
    return join(client.folder, exports[key].default)
  }
  /** What an entry and all it leads to import from beyond the package. */
  const importsOf = async (key: string): Promise<string[]> => {
    const beyond = new Set<string>()
    const files = new Set([await entryOf(key)])
    for (const file of files) {
      const text = await Bun.file(file).text()
      for (const { path } of new Bun.Transpiler({ loader: 'js' }).scanImports(text)) {
        if (path.startsWith('.')) files.add(join(dirname(file), path))
        else beyond.add(path)
      }
    }
    return [...beyond].sort()
  }

  for (const key of [
    '.',
    './browser',
    './passphrase-vault',
    './pow-worker',
    './call-worker',
    './push-worker',
  ]) {
    test(`${key} needs nothing but the package`, async () => {
      expect(await importsOf(key)).toEqual([])
    })
  }

  for (const key of ['./file-store', './into-file']) {
    test(`${key} needs Node’s own modules, by their full names`, async () => {
      const beyond = await importsOf(key)
      expect(beyond.length).toBeGreaterThan(0)
      expect(beyond.filter((path) => !path.startsWith('node:'))).toEqual([])
    })
  }
})

test('the packed words are the BIP-39 list', async () => {
  const { wordlist }: { wordlist: string[] } = await import(
    join(MODULES, '@scure/bip39/wordlists/english.js')
  )
  let word = ''
  const words = (packWords(wordlist).match(/[A-Z][a-z]*/g) ?? []).map((part) => {
    word = word.slice(0, part.charCodeAt(0) - 65) + part.slice(1)
    return word
  })
  expect(words).toEqual(wordlist)
  expect(words).toHaveLength(2048)
})

// What the client costs an application that registers, makes friends and exchanges messages.
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
    maxBytes: 35_000,
    script: exchange('new MemoryStore()', "import { MemoryStore } from '@sotto/client'"),
  },
  {
    name: 'with IndexedDB',
    maxBytes: 37_500,
    script: exchange(
      "await IndexedDbStore.open('app')",
      "import { IndexedDbStore } from '@sotto/client/browser'",
    ),
  },
]

interface Surroundings {
  readonly name: string
  readonly host: string
  /** Run in the page before its own script. */
  readonly before?: () => void
  readonly loadsNoble: boolean
}

const surroundings: readonly Surroundings[] = [
  { name: 'where WebCrypto has all that is needed', host: '127.0.0.1', loadsNoble: false },
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
  { name: 'where there is no WebCrypto, by http', host: INSECURE_HOST, loadsNoble: true },
]

describe('registering, making friends and exchanging messages in Chromium', () => {
  let relay: RelayProcess
  beforeAll(async () => {
    relay = await startRelay()
  })
  afterAll(() => relay.stop())

  /** Exchanges messages between the page and a client in this process. Answers the scripts the page has loaded. */
  const exchangeIn = async (app: Page, { host, before }: Surroundings): Promise<string[]> => {
    const server = servePage(app)
    const browser = await startChromium()
    const bob = await Person.join('bob', relay.url)
    try {
      const tab = await browser.newPage()
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
      await until('the page shows it', async () => (await tab.textContent('body'))?.includes('hello page'))
      expect(errors).toEqual([])
      return loaded
    } finally {
      await bob.client.close()
      await browser.close()
      await server.stop()
    }
  }

  for (const { name, maxBytes, script } of stores) {
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
            // The whole of it: an application that was cut down to nothing would be small as well.
            expect(bytes).toBeGreaterThan(20_000)
            if (!where.loadsNoble) expect(bytes).toBeLessThanOrEqual(maxBytes)
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
  /** What is in a page that has it, and in no other. */
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
    mostBytes: 7000,
  },
  {
    name: 'push',
    script: `import { Push } from '@sotto/client'
await new Push(client).subscribe(await navigator.serviceWorker.ready)`,
    mark: '/push/subscribe',
    mostBytes: 1500,
  },
]

describe('modules are paid for by who imports them', () => {
  const weigh = async (script: string): Promise<{ bytes: number; text: string }> => {
    const app = await buildPage(client, script)
    const scripts = [...app.scripts.values()]
    await app.remove()
    const bytes = scripts.reduce((sum, text) => sum + gzipSync(text, { level: 9 }).length, 0)
    return { bytes, text: scripts.join('\n') }
  }
  const without = exchange('new MemoryStore()', "import { MemoryStore } from '@sotto/client'")
  let core: { bytes: number; text: string }
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
})

test(
  'calls are paid for by who imports them, and their worker is found',
  async () => {
    const without = exchange('new MemoryStore()', "import { MemoryStore } from '@sotto/client'")
    const calls = `import { Calls, webRtc } from '@sotto/client/browser'
const calls = new Calls(client, webRtc())
calls.onChange((call) => show(call.state))
await calls.call(alias)`
    const build = async (script: string): Promise<{ bytes: number; texts: string; worker: boolean }> => {
      const app = await buildPage(client, script)
      await app.remove()
      const isWorker = (name: string): boolean => name.startsWith('call-worker')
      const page = [...app.scripts].filter(([name]) => !isWorker(name)).map(([, text]) => text)
      return {
        bytes: page.reduce((sum, text) => sum + gzipSync(text, { level: 9 }).length, 0),
        texts: page.join('\n'),
        worker: [...app.scripts.keys()].some(isWorker),
      }
    }
    const [core, all] = [await build(without), await build(`${without}\n${calls}`)]
    console.log(`calls: ${all.bytes - core.bytes} bytes gzip -9, without the worker`)
    expect([core.worker, all.worker]).toEqual([false, true])
    for (const word of ['ice-config', 'RTCPeerConnection', 'send_busy'])
      expect(core.texts).not.toContain(word)
    expect(all.texts).toContain('ice-config')
    expect(all.bytes - core.bytes).toBeLessThan(10_000)
  },
  LIMIT_MS,
)

// Registers with the work done in a worker, accepts who asks, and answers.
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
    'a built application registers, befriends and answers through a relay of another origin',
    async () => {
      const app = await buildPage(client, script)
      const worker = [...app.scripts.keys()].find((name) => name.startsWith('pow-worker'))
      const server = servePage(app)
      const browser = await startChromium()
      try {
        const tab = await browser.newPage()
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
        // Loaded once, by whoever registers, and beside the page: not in the figures above.
        const bytes = gzipSync(app.scripts.get(worker ?? '') ?? '', { level: 9 }).length
        console.log(`the worker for the proof of work: ${bytes} bytes gzip -9`)
        expect(bytes).toBeGreaterThan(1000)
        expect(bytes).toBeLessThanOrEqual(5000)
        expect(workers).toEqual([expect.stringContaining(worker ?? 'a worker of its own')])
        expect(errors).toEqual([])
        await bob.client.close()
      } finally {
        await browser.close()
        await server.stop()
        await app.remove()
      }
    },
    LIMIT_MS,
  )
})
