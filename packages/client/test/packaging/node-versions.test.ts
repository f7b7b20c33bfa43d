// The packed client in the oldest promised Node and in the current one: the guide's program, and everything
// that media do outside of browsers.
import { expect, test } from 'bun:test'
import { GUIDE, programOf } from './guide.ts'
import { findNode, NODE_VERSIONS, OLDEST_NODE } from './node-versions.ts'
import { makeApp, run, usePacked } from './packed.ts'

const LIMIT_MS = 400_000

const packed = usePacked({ PAYMENTS: 'dev' })

// Two people in one process. Media of more than one chunk, from every kind of source, and into both targets.
const exchange = `
import { readFile } from 'node:fs/promises'
import { contentOf, Media, MemoryStore, SottoClient } from '@sotto/client'
import { intoFile } from '@sotto/client/into-file'
import { WebSocket } from 'ws'

const [relayUrl] = process.argv.slice(2)
const join = async (nickname) => {
  const client = await SottoClient.open({ relayUrl, store: new MemoryStore(), WebSocket })
  client.on('error', (error) => console.log('error:', error.code, error.message))
  await client.create({ nickname })
  client.connect()
  return client
}
const alice = await join('alice')
const bob = await join('bob')
bob.on('friend_request', ({ friendship_id }) => bob.acceptFriend(friendship_id))
const accepted = new Promise((resolve) => alice.on('friend_accepted', resolve))
await alice.requestFriend(bob.identity.aliasId)
await accepted

const media = { alice: new Media(alice), bob: new Media(bob) }
const contact = { alice: alice.identity.aliasId, bob: bob.identity.aliasId }
const messages = bob.events('message')
const bytes = Uint8Array.from({ length: 6 * 1024 * 1024 }, (_, index) => index % 251)
const isSame = (other) => Buffer.compare(bytes, Buffer.from(other)) === 0
const next = async () => contentOf((await messages.next()).value)
const isBlobSame = async (content) => {
  const { data, isProven } = await media.bob.download(contact.alice, content)
  return isProven && isSame(await data.arrayBuffer())
}

await media.alice.sendFile(contact.bob, new Blob([bytes]), { name: 'blob.bin' })
const file = await next()
console.log(file.kind, file.name, file.sizeBytes === bytes.length, await isBlobSame(file))
await media.bob.downloadInto(contact.alice, file, { into: intoFile('./file.bin') })
console.log('into a file', isSame(await readFile('./file.bin')))

await media.alice.sendFile(contact.bob, bytes, { name: 'bytes.bin' })
console.log('bytes', await isBlobSame(await next()))

const { mediaKey } = await media.alice.upload(contact.bob, new Blob([bytes]).stream())
console.log('stream', await isBlobSame({ mediaKey }))

await media.alice.sendVoice(contact.bob, new Blob([bytes]), 1500)
const voice = await next()
console.log(voice.kind, voice.durationMs, await isBlobSame(voice))

await media.alice.sendImage(contact.bob, new Blob([bytes]), { isOriginal: true })
const image = await next()
console.log(image.kind, await isBlobSame(image))
await alice.close()
await bob.close()
`

for (const version of NODE_VERSIONS) {
  test(
    `the guide’s program prints the lines that its comments say in Node ${version}`,
    async () => {
      // The relay has what earlier runs of the program have left there.
      const { source, prints } = await programOf(GUIDE, 'ts', packed.relayUrl)
      // What the guide says for Node 20: an earlier version needs a WebSocket and plain JavaScript.
      const early = `import { WebSocket } from 'ws'\nObject.assign(globalThis, { WebSocket })\n${source}`
      const files =
        version === OLDEST_NODE
          ? { 'guide.mjs': new Bun.Transpiler({ loader: 'ts' }).transformSync(early) }
          : { 'guide.ts': source }
      const app = await makeApp(packed.client, files, ['ws'])
      const output = await run([await findNode(version), ...Object.keys(files)], app.folder)
      expect(prints.length).toBeGreaterThan(10)
      expect(output.trim().split('\n')).toEqual([...prints])
      await app.remove()
    },
    LIMIT_MS,
  )

  test(
    `files, voice and original images go both ways in Node ${version}`,
    async () => {
      const node = await findNode(version)
      const app = await makeApp(packed.client, { 'media.mjs': exchange }, ['ws'])
      expect(await run([node, '--version'], app.folder)).toBe(`v${version}\n`)
      const output = await run([node, 'media.mjs', packed.relayUrl], app.folder)
      expect(output.trim().split('\n')).toEqual([
        'file blob.bin true true',
        'into a file true',
        'bytes true',
        'stream true',
        'voice 1500 true',
        'image true',
      ])
      await app.remove()
    },
    LIMIT_MS,
  )
}
