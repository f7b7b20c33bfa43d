// The packed client in its runtimes: installed from its tarball into plain projects of Node and Bun, and
// type-checked.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { failureOf } from '../../../protocol/test/failure-of.ts'
import { GUIDE } from './guide.ts'
import { type App, makeApp, run, usePacked } from './packed.ts'

const TSC = join(import.meta.dir, '../../../../node_modules/typescript/bin/tsc')
const LIMIT_MS = 400_000

const packed = usePacked()

// Two people in one process: one keeps everything in a folder, the other in memory.
const conversation = `
import { WebSocket } from 'ws'
import { ClientError, MemoryStore, SottoClient } from '@sotto/client'
import { FileStore } from '@sotto/client/file-store'

const [relayUrl] = process.argv.slice(2)
const open = (store) => SottoClient.open({ relayUrl, store, WebSocket })
const heard = (client, name) => new Promise((resolve) => client.on(name, resolve))

const alice = await open(await FileStore.open('./alice'))
const bob = await open(new MemoryStore())
await alice.create({ nickname: 'alice' })
await bob.create({ nickname: 'bob' })
const request = heard(bob, 'friend_request')
const accepted = heard(alice, 'friend_accepted')
alice.connect()
bob.connect()
await alice.requestFriend(bob.identity.aliasId)
await bob.acceptFriend((await request).friendship_id)
await accepted

bob.on('message', (message) => bob.send(message.conversationId, message.text.toUpperCase()))
const answer = heard(alice, 'message')
await alice.send(bob.identity.aliasId, 'hello')
console.log('answer:', (await answer).text)
console.log('same code:', alice.securityCode(bob.identity.aliasId).displayCode === bob.securityCode(alice.identity.aliasId).displayCode)
await alice.close()

const again = await open(await FileStore.open('./alice'))
console.log('kept:', (await again.messages(bob.identity.aliasId)).map(({ text }) => text).join(', '))
const refused = await again.send('nobody', 'hello').catch((error) => error)
console.log('an error of the same class:', refused instanceof ClientError, refused.code)
await again.close()
await bob.close()
`

describe('from its tarball the client runs in', () => {
  for (const [name, program] of [
    ['Node', 'node'],
    ['Bun', process.execPath],
  ] as const) {
    test(
      name,
      async () => {
        const app = await makeApp(packed.client, { 'run.mjs': conversation }, ['ws'])
        const output = await run([program, 'run.mjs', packed.relayUrl], app.folder)
        expect(output.trim().split('\n')).toEqual([
          'answer: HELLO',
          'same code: true',
          'kept: hello, HELLO',
          'an error of the same class: true UNKNOWN_CONTACT',
        ])
        await app.remove()
      },
      LIMIT_MS,
    )
  }
})

test(
  'a project of npm init can import the client after the setting that the guide names',
  async () => {
    const setting = 'npm pkg set type=module'
    expect(await Bun.file(GUIDE).text()).toContain(`\`${setting}\``)
    const app = await makeApp(packed.client, {
      'run.js': "import { MemoryStore } from '@sotto/client'\nnew MemoryStore()",
    })
    await run(['npm', 'pkg', 'set', 'type=commonjs'], app.folder)
    const failure = await failureOf(run(['node', 'run.js'], app.folder))
    expect(String(failure)).toContain('Cannot use import statement outside a module')
    await run(setting.split(' '), app.folder)
    await run(['node', 'run.js'], app.folder)
    await app.remove()
  },
  LIMIT_MS,
)

// The application wraps the data key by itself, and no vault of the library is made.
const ownVault = `
import { readFile } from 'node:fs/promises'
import { customVault, MemoryStore, SottoClient } from '@sotto/client'
import { FileStore } from '@sotto/client/file-store'

const keychain = new Map()
const vault = {
  kind: 'key',
  needsPassphrase: false,
  async wrap({ dataKey }) {
    keychain.set('entry', dataKey.slice())
    return { kind: 'key', wrappedKey: btoa('entry') }
  },
  async unwrap({ wrappedKey }) {
    return keychain.get(atob(wrappedKey)).slice()
  },
}
const [relayUrl] = process.argv.slice(2)
class NoSocket {}
const open = async (secrets, store) =>
  SottoClient.open({ relayUrl, store: store ?? (await FileStore.open('./sealed')), WebSocket: NoSocket, ...secrets })
console.log('as it is:', (await open({ secrets: vault }, new MemoryStore()).catch((error) => error)).code)
const client = await open({ secrets: customVault(vault) })
await client.create({ nickname: 'alice' })
const phrase = await client.recoveryPhrase()
await client.close()
console.log('in the file:', (await readFile('./sealed/store.log')).includes(phrase))
const again = await open({ secrets: vault })
console.log('opened:', (await again.recoveryPhrase()) === phrase)
await again.close()
console.log('without the vault:', (await open().catch((error) => error)).code)
`

test(
  'an application’s own vault seals a store, without any vault of the library',
  async () => {
    const app = await makeApp(packed.client, { 'run.mjs': ownVault }, ['ws'])
    const output = await run(['node', 'run.mjs', packed.relayUrl], app.folder)
    expect(output.trim().split('\n')).toEqual([
      'as it is: INVALID_ARGUMENT',
      'in the file: false',
      'opened: true',
      'without the vault: LOCKED',
    ])
    await app.remove()
  },
  LIMIT_MS,
)

const consumer = `
import { ClientError, type ClientStore, MemoryStore, SottoClient, type StoredMessage } from '@sotto/client'
import { FileStore } from '@sotto/client/file-store'
import { WebSocket } from 'ws'

const store: ClientStore = process.argv[2] ? await FileStore.open(process.argv[2]) : new MemoryStore()
export const client: SottoClient = await SottoClient.open({ relayUrl: 'http://localhost:8080', store, WebSocket })
export const texts: string[] = (await client.messages('bob')).map((message: StoredMessage) => message.text)
client.on('status_change', ({ message, previous }) => {
  const status: 'sending' | 'sent' | 'delivered' | 'read' | 'failed' = message.status
  return [status, previous]
})
client.on('error', (error: ClientError) => error.code === 'NETWORK')
// @ts-expect-error there is no such event
client.on('no_such_event', () => {})
// @ts-expect-error a message has no such status
export const wrong = (message: StoredMessage): boolean => message.status === 'lost'
`

const inPage = `
import { Channels, type Client, Media, MemoryStore, Push, SottoClient, VanityShop } from '@sotto/client'
import * as browser from '@sotto/client/browser'

export const clients: Client[] = [
  await SottoClient.open({ relayUrl: location.origin, store: new MemoryStore() }),
  await browser.SharedClient.open({ relayUrl: location.origin, name: 'shared' }),
]
for (const each of clients) {
  each.on('message', ({ text }) => text.trim())
  const alias: string | undefined = each.identity?.aliasId
  await each.connect()
  const names: string[] = (await each.friends()).map(({ nickname }) => nickname)
  const phrase: string = await each.recoveryPhrase()
  const id: string = (await each.send('bob', 'hello')).id
  // @ts-expect-error the phrase is not in the identity of every client
  each.identity?.mnemonic
  // @ts-expect-error a list or the promise of one
  each.friends().length
  console.log(alias, names, phrase, id)
  const modules: object[] = [new Channels(each), new Media(each), new Push(each), new VanityShop(each)]
  modules.push(new browser.Calls(each, browser.webRtc()))
  console.log(modules)
}

export const client = await SottoClient.open({ relayUrl: location.origin, store: new MemoryStore() })
export const entries: readonly string[] = Object.keys(browser)
`

describe('the type declarations have no errors, and neither do those of their libraries', () => {
  const settings = { strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false, noEmit: true }
  const projects = {
    'in Node': {
      file: 'node.ts',
      options: { module: 'nodenext', target: 'es2023', lib: ['es2023', 'dom'], types: ['node'] },
    },
    'in Node, without the types of browsers': {
      file: 'node.ts',
      options: { module: 'nodenext', target: 'es2023', lib: ['es2023'], types: ['node'] },
    },
    'with a bundler': {
      file: 'page.ts',
      options: {
        module: 'esnext',
        moduleResolution: 'bundler',
        target: 'es2023',
        lib: ['es2023', 'dom'],
        types: [],
      },
    },
  }
  let app: App
  beforeAll(async () => {
    app = await makeApp(packed.client, { 'node.ts': consumer, 'page.ts': inPage }, [
      'ws',
      '@types/ws',
      '@types/node',
    ])
  }, LIMIT_MS)
  afterAll(() => app.remove())

  for (const [name, { file, options }] of Object.entries(projects)) {
    test(
      name,
      async () => {
        const config = join(app.folder, `tsconfig.${name.replaceAll(/\W/g, '-')}.json`)
        await Bun.write(
          config,
          JSON.stringify({ compilerOptions: { ...settings, ...options }, files: [file] }),
        )
        await run([process.execPath, TSC, '-p', config], app.folder)
      },
      LIMIT_MS,
    )
  }
})
