// The library in plain Node: bundled for Node, with the `ws` package, against a real relay.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type RelayProcess, startRelay } from '@sotto/relay/testing'
import { Person, until } from './people.ts'

let relay: RelayProcess
let folder: string

beforeAll(async () => {
  relay = await startRelay()
  folder = await mkdtemp(join(tmpdir(), 'sotto-node-'))
})
afterAll(async () => {
  await relay.stop()
  await rm(folder, { recursive: true })
})

const script = `
import { WebSocket } from 'ws'
import { ClientError, MemoryStore, SottoClient } from './client.js'
import { FileStore } from './file-store.js'

const [relayUrl, friend] = process.argv.slice(2)
if (!globalThis.WebSocket) {
  await SottoClient.open({ relayUrl, store: new MemoryStore() }).catch((error) => console.log('without ws:', error.code))
} else {
  console.log('without ws: NO_WEBSOCKET')
}
const client = await SottoClient.open({ relayUrl, store: await FileStore.open('./home'), WebSocket })
await client.create({ nickname: 'node' })
client.on('error', (error) => console.log('error:', error.code, error.message))
client.on('message', (message) => {
  console.log('received:', message.text)
  client.send(message.conversationId, 'hello from node')
})
client.on('status_change', async ({ message }) => {
  if (message.status !== 'delivered') return
  console.log('delivered')
  await client.close()
})
client.on('friend_accepted', () => console.log('accepted'))
client.connect()
await client.requestFriend(friend)
`

test('the bundled library runs in Node', async () => {
  const source = join(import.meta.dir, '../src')
  const entrypoints = [join(source, 'client.ts'), join(source, 'stores/file-store.ts')]
  const bundle = [
    process.execPath,
    'build',
    '--target=node',
    '--outdir',
    folder,
    '--entry-naming',
    '[name].js',
    ...entrypoints,
  ]
  expect(await Bun.spawn(bundle, { stdout: 'ignore' }).exited).toBe(0)
  await symlink(join(import.meta.dir, '../../../node_modules'), join(folder, 'node_modules'))
  await writeFile(join(folder, 'run.mjs'), script)
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')

  const bob = await Person.join('bob', relay.url)
  const node = Bun.spawn(['node', 'run.mjs', relay.url, bob.alias], {
    cwd: folder,
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const request = await until('bob gets the request', () => bob.heard.friend_request[0])
  await bob.client.acceptFriend(request.friendship_id)
  await bob.client.send(request.alias_id, 'hello node')
  await bob.receives('hello from node')
  const [output, errors] = [await new Response(node.stdout).text(), await new Response(node.stderr).text()]
  expect(errors).toBe('')
  expect(output.trim().split('\n')).toEqual([
    'without ws: NO_WEBSOCKET',
    'accepted',
    'received: hello node',
    'delivered',
  ])
  expect(await node.exited).toBe(0)
  await bob.client.close()
}, 120_000)
