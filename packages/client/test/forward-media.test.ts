// Files in conversations with forward secrecy: each has a key of its own, which only its message has.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { ChunkReader, decodeBase64, decryptChunk, parseSealedFile } from '@sotto/crypto'
import type { SecretContent } from '@sotto/crypto/version-3'
import { failureOf } from '../../protocol/test/failure-of.ts'
import {
  type BegunUpload,
  contentOf,
  type FetchLike,
  intoBlob,
  Media,
  MemoryStore,
  SecrecyChoices,
  type StoredMessage,
  UnsentMessages,
} from '../src/client.ts'
import { forwardSecrecy } from '../src/forward-secrecy/entry.ts'
import { deviceOf } from '../src/module-access.ts'
import { forwardFriends, sendContent, spiedFriends, untilVersion3 } from './forward-people.ts'
import { codeOf, filesOf, MIB, noise } from './media-world.ts'
import { type Person, until } from './people.ts'
import { PeopleWorld } from './people-world.ts'

setDefaultTimeout(240_000)

const CHUNK = 5 * MIB
const world = new PeopleWorld()

/** A store that can lose the keys of its conversations. */
class LosingStore extends MemoryStore {
  loseKeys(): void {
    this.state.secrets.clear()
  }
}

/** Waits for a message, and returns it as the recipient has it. */
async function received(to: Person, id: string): Promise<StoredMessage> {
  return until(`${to.name} receives the message`, () => to.heard.message.find((each) => each.id === id))
}

/** The media key of a message, with the key of the file. */
function mediaKeyOf(message: StoredMessage): string {
  const content = contentOf(message)
  if (!content || content.kind === 'text') throw new Error('the message has no file')
  return content.mediaKey
}

async function isSame(person: Person, message: StoredMessage, source: Uint8Array): Promise<boolean> {
  const mediaKey = mediaKeyOf(message)
  const { data, isProven } = await new Media(person.client).download(message.conversationId, { mediaKey })
  return isProven && Buffer.compare(new Uint8Array(await data.arrayBuffer()), source) === 0
}

test('files, images and voice messages arrive as before, and the relay never has their keys', async () => {
  const [alice, bob, asked] = await spiedFriends(world)
  const media = new Media(alice.client)
  const bytes = noise(CHUNK + 7)
  const details = { width: 40, height: 30 }
  const reply = { replyToId: (await alice.client.messages(bob.alias))[0]?.id ?? '' }
  const sent = [
    await media.sendFile(bob.alias, bytes, { name: 'plan.pdf', ...reply }),
    await media.sendImage(bob.alias, new Blob([bytes]), { isOriginal: true, details }),
    await media.sendVoice(bob.alias, new Blob([bytes]).stream(), 1500, { waveform: [0, 100] }),
  ]
  const [file, image, voice] = await Promise.all(sent.map(({ id }) => received(bob, id)))
  if (!file || !image || !voice) throw new Error('three messages')
  expect(file).toMatchObject({ msgType: 'file', caption: 'plan.pdf', version: 3, ...reply })
  expect(file.sizeBytes).toBe(bytes.length)
  expect(image).toMatchObject({ msgType: 'image', ...details, sizeBytes: bytes.length, version: 3 })
  expect(voice).toMatchObject({ msgType: 'voice', durationMs: 1500, waveform: [0, 100], version: 3 })
  for (const message of [file, image, voice]) {
    expect(await isSame(bob, message, bytes)).toBe(true)
    const own = sent.find(({ id }) => id === message.id)
    expect(own && contentOf(own)).toEqual(contentOf(message))
    expect(own && (await isSame(alice, own, bytes))).toBe(true)
    expect(message.text).not.toContain('#')
  }
  const keys = [file, image, voice].map((message) => mediaKeyOf(message).split('#')[1] ?? '')
  expect(new Set(keys).size).toBe(3)
  expect(asked.some((request) => request.includes('/media/download'))).toBe(true)
  for (const key of keys) {
    const [hex = ''] = key.split('.')
    expect(hex).toHaveLength(64)
    expect(asked.filter((request) => request.includes(hex) || request.includes('%23'))).toEqual([])
  }
  expect([...alice.heard.error, ...bob.heard.error]).toEqual([])
})

test('a file of any size comes back, from bytes and from a stream', async () => {
  const [alice, bob] = await forwardFriends(world)
  const media = new Media(alice.client)
  // The largest has padding in a chunk of its own.
  const sizes = [0, 1, 65, CHUNK, CHUNK + 1, 75 * MIB - 1]
  for (const size of sizes) {
    const bytes = noise(size)
    const stream = new Blob([bytes]).stream()
    for (const source of size > 2 * CHUNK ? [stream] : [bytes, stream]) {
      const { mediaKey, sizeBytes } = await media.upload(bob.alias, source)
      const { data } = await new Media(bob.client).download(alice.alias, { mediaKey })
      expect([sizeBytes, data.size]).toEqual([size, size])
      expect(Buffer.compare(new Uint8Array(await data.arrayBuffer()), bytes)).toBe(0)
    }
  }
})

test('who has the static key of the conversation cannot open a file', async () => {
  const [alice, bob] = await forwardFriends(world)
  const { sessions } = deviceOf(alice.client).needEngine()
  const sessionKey = sessions.keyOf(sessions.get(bob.alias))
  const sealed = await new Media(alice.client).seal(bob.alias, new Blob([noise(MIB)]), { into: intoBlob() })
  // It opens what version 1 would upload.
  const [chunk = new Uint8Array()] = new ChunkReader().push(new Uint8Array(await sealed.arrayBuffer()))
  expect(await decryptChunk({ sessionKey, chunk })).toHaveLength(MIB)
  const before = await filesOf(world.relay.dataDir)
  const sources = { blob: sealed, onBegun: () => {} }
  await new Media(alice.client).sendFile(bob.alias, new Blob(['described']), { name: 'a', sealed: sources })
  const stored = (await filesOf(world.relay.dataDir)).filter((path) => !before.includes(path))
  expect(stored).toHaveLength(1)
  const blob = new Uint8Array(await Bun.file(stored[0] ?? '').arrayBuffer())
  expect(blob).toHaveLength(MIB + 16)
  const open = async (): Promise<void> => {
    for (const each of [blob, ...new ChunkReader().push(blob)])
      await decryptChunk({ sessionKey, chunk: each })
  }
  expect(await failureOf(open())).toMatchObject({ name: 'CryptoError' })
})

test('after the program was started again, an upload goes on under the same key', async () => {
  const store = new MemoryStore()
  let [ends, sent] = [true, [] as string[]]
  let close: () => void = () => {}
  const fetchOrEnd: FetchLike = async (url, init) => {
    const { searchParams, pathname } = new URL(url)
    const number = pathname.endsWith('/chunk') ? searchParams.get('partNumber') : null
    if (number === '2' && ends) {
      close()
      throw new TypeError('the program has ended')
    }
    if (number !== null) sent.push(number)
    return fetch(url, init)
  }
  const options = { forwardSecrecy: forwardSecrecy(), store, fetch: fetchOrEnd }
  const alice = await world.join('alice', options)
  const bob = await world.join('bob', { forwardSecrecy: forwardSecrecy() })
  await alice.befriend(bob)
  await untilVersion3(alice, bob)
  const bytes = noise(2 * CHUNK + 7)
  const source = new Blob([bytes])
  const blob = await new Media(alice.client).seal(bob.alias, source, { into: intoBlob() })
  const begun: BegunUpload[] = []
  const onBegun = (upload: BegunUpload): void => void begun.push(JSON.parse(JSON.stringify(upload)))
  const ended = new Promise<void>((resolve) => {
    close = () => void alice.client.close().then(resolve)
  })
  const first = new Media(alice.client).upload(bob.alias, source, { sealed: { blob, onBegun } })
  expect(await failureOf(first)).toMatchObject({ code: 'CLOSED' })
  await ended
  const [known] = begun
  if (!known) throw new Error('the upload has begun')
  expect(sent).toEqual(['1'])
  store.reopen()
  ends = false
  sent = []
  const again = await world.open('alice', options)
  await again.connect()
  const media = new Media(again.client)
  // Another source under the same key would get the same nonces.
  const other = await media.seal(bob.alias, source, { into: intoBlob() })
  const wrong = await media.upload(bob.alias, source, { sealed: { blob: other, begun: known, onBegun } })
  expect(sent).toEqual(['1', '2', '3'])
  expect(wrong.mediaKey).not.toStartWith(known.mediaKey)
  expect(parseSealedFile(wrong.mediaKey)?.fileKey).not.toEqual(decodeBase64(known.fileKey ?? ''))
  sent = []
  const send = { name: 'plan.pdf', sealed: { blob, begun: known, onBegun } }
  const message = await media.sendFile(bob.alias, blob, send)
  expect(sent).toEqual(['2', '3'])
  expect(parseSealedFile(mediaKeyOf(message))?.fileKey).toEqual(decodeBase64(known.fileKey ?? ''))
  expect(await isSame(bob, await received(bob, message.id), bytes)).toBe(true)
  expect(begun).toHaveLength(2)
})

test('what was uploaded before both had version 3 goes under it with the key of the conversation', async () => {
  const options = { forwardSecrecy: forwardSecrecy() }
  const [alice, bob] = [await world.join('alice', options), await world.join('bob', options)]
  await alice.befriend(bob)
  const bytes = noise(1000)
  const { mediaKey, sizeBytes } = await new Media(alice.client).upload(bob.alias, bytes)
  expect(parseSealedFile(mediaKey)).toBeUndefined()
  await untilVersion3(alice, bob)
  const content = { kind: 'file', mediaKey, name: 'plan.pdf', sizeBytes } as const
  const { id, version } = await alice.client.send(bob.alias, content)
  expect(version).toBe(3)
  const message = await received(bob, id)
  expect([contentOf(message), message.version]).toEqual([content, 3])
  expect(await isSame(bob, message, bytes)).toBe(true)
})

test('a device that lost all asks the relay before it uploads, so that nothing goes a step down', async () => {
  const [alice, bob] = await forwardFriends(world)
  const mnemonic = await bob.client.recoveryPhrase()
  await bob.client.close()
  const again = await world.open('bob', { forwardSecrecy: forwardSecrecy() })
  await again.client.recover({ mnemonic })
  await again.connect()
  await again.client.syncFriends()
  const bytes = noise(1000)
  const sent = await new Media(again.client).sendFile(alice.alias, bytes, { name: 'plan.pdf' })
  expect(parseSealedFile(mediaKeyOf(sent))).toBeDefined()
  expect(await isSame(alice, await received(alice, sent.id), bytes)).toBe(true)
})

test('a file that waits when the user permits an older version is not sent under it', async () => {
  const [alice, bob] = await forwardFriends(world)
  const bytes = noise(1000)
  const media = new Media(alice.client)
  const { mediaKey, sizeBytes } = await media.upload(bob.alias, bytes)
  const last = await alice.client.send(bob.alias, 'the last one with a key of its own')
  await alice.sees(bob.alias, last.id, 'delivered')
  const mnemonic = await bob.client.recoveryPhrase()
  await bob.client.close()
  alice.client.disconnect()
  const content = { kind: 'file', mediaKey, name: 'plan.pdf', sizeBytes } as const
  const waiting = await alice.client.send(bob.alias, content)
  await alice.client.send(bob.alias, 'it waits, too')
  await new SecrecyChoices(alice.client).allowOlderVersion(bob.alias)
  const older = await world.open('bob')
  await older.client.recover({ mnemonic })
  await older.connect()
  await older.client.syncFriends()
  await alice.connect()
  await older.receives('it waits, too')
  const kept = await alice.store.findMessage(waiting.conversationId, true, waiting.id)
  expect(kept).toMatchObject({ status: 'sending', version: 3 })
  expect(older.heard.message.filter(({ msgType }) => msgType === 'file')).toEqual([])
  expect(alice.heard.error).toEqual([])
  // What is sent now has the key of the conversation.
  expect(parseSealedFile((await media.upload(bob.alias, bytes)).mediaKey)).toBeUndefined()
})

test('an older client is given no key of a file', async () => {
  const [alice, bob] = await forwardFriends(world)
  const carol = await world.join('carol')
  await alice.befriend(carol)
  const media = new Media(alice.client)
  const bytes = noise(1000)
  const { mediaKey, sizeBytes } = await media.upload(bob.alias, bytes)
  expect(parseSealedFile(mediaKey)).toBeDefined()
  const before = await alice.client.messages(carol.alias)
  for (const content of [
    { kind: 'file', mediaKey, name: 'plan.pdf', sizeBytes },
    { kind: 'image', mediaKey },
    { kind: 'voice', mediaKey, durationMs: 1 },
  ] as const)
    expect(await failureOf(alice.client.send(carol.alias, content))).toMatchObject({
      code: 'INVALID_ARGUMENT',
    })
  expect(await alice.client.messages(carol.alias)).toEqual(before)
  const sent = await media.sendFile(carol.alias, bytes, { name: 'plan.pdf' })
  expect(parseSealedFile(mediaKeyOf(sent))).toBeUndefined()
  expect(sent).not.toHaveProperty('version')
  expect(await isSame(carol, await received(carol, sent.id), bytes)).toBe(true)
  // What only looks like a key is refused, too.
  for (const wrong of ['key#', 'key#00.1', `key#${'0'.repeat(64)}`, `#${'0'.repeat(64)}.1`])
    expect(await codeOf(alice.client.send(bob.alias, { kind: 'image', mediaKey: wrong }))).toBe(
      'INVALID_ARGUMENT',
    )
})

test('a repetition after a rejoin has the same file, and so has what is sent again', async () => {
  const store = new LosingStore()
  const alice = await world.join('alice', { forwardSecrecy: forwardSecrecy() })
  const bob = await world.join('bob', { forwardSecrecy: forwardSecrecy(), store })
  await alice.befriend(bob)
  await untilVersion3(alice, bob)
  await bob.client.close()
  const bytes = noise(1000)
  const sent = await new Media(alice.client).sendFile(bob.alias, bytes, { name: 'plan.pdf' })
  await until('the relay has it', async () => (await alice.store.listOutbox()).length === 0)
  // The history stays, and the keys are gone.
  store.loseKeys()
  store.reopen()
  const again = await world.open('bob', { forwardSecrecy: forwardSecrecy(), store })
  await again.connect()
  await again.client.send(alice.alias, 'my keys are gone')
  const message = await until('Bob has the file', async () =>
    (await again.client.messages(alice.alias)).find(({ msgType }) => msgType === 'file'),
  )
  expect([message.id, contentOf(message)]).toEqual([sent.id, contentOf(sent)])
  expect(await isSame(again, message, bytes)).toBe(true)

  const failed = { ...sent, id: 'failed', status: 'failed' } as const
  const { journal } = deviceOf(alice.client).needEngine()
  await journal.write([{ change: 'message', message: { ...failed, id: sent.id } }])
  const resent = await new UnsentMessages(alice.client).resend(bob.alias, sent.id)
  expect(contentOf(resent)).toEqual(contentOf(sent))
  expect(await isSame(again, await received(again, resent.id), bytes)).toBe(true)
  await alice.client.retract(bob.alias, resent.id)
  await until('Bob sees it retracted', () => again.heard.retracted.find(({ id }) => id === resent.id))
  const left = [await alice.store.findMessage(sent.conversationId, true, resent.id)]
  left.push(await again.store.findMessage(sent.conversationId, false, resent.id))
  for (const record of left) expect(JSON.stringify(record)).not.toContain(mediaKeyOf(sent).split('#')[1])
})

test('a hostile file is refused, or shown as unknown', async () => {
  let pieces = 0
  const counting: FetchLike = (url, init) => {
    if (url.includes('/media/download')) pieces += 1
    return fetch(url, init)
  }
  const alice = await world.join('alice', { forwardSecrecy: forwardSecrecy() })
  const bob = await world.join('bob', { forwardSecrecy: forwardSecrecy(), fetch: counting })
  const conversation = await alice.befriend(bob)
  await untilVersion3(alice, bob)
  const bytes = noise(CHUNK + 1000)
  const uploaded = await new Media(alice.client).upload(bob.alias, bytes)
  const file = parseSealedFile(uploaded.mediaKey)
  if (!file) throw new Error('the file has a key of its own')
  const attachment = { kind: 'attachment', isImage: false, name: 'plan.pdf', ...file } as const
  const arrives = async (content: SecretContent): Promise<StoredMessage> =>
    received(bob, await sendContent(alice, bob.alias, content))
  const downloads = async (content: SecretContent): Promise<string> => {
    const mediaKey = mediaKeyOf(await arrives(content))
    return codeOf(new Media(bob.client).download(conversation, { mediaKey }))
  }
  expect(await downloads(attachment)).toBe('done')
  expect(pieces).toBe(2)
  // Another class of sizes, and another number of chunks: the size of the blob does not fit.
  pieces = 0
  for (const sizeBytes of [0, 1000, CHUNK, 2 * CHUNK])
    expect(await downloads({ ...attachment, sizeBytes })).toBe('MEDIA_ALTERED')
  expect(pieces).toBe(4)
  // What says that it is too large is not asked for.
  expect(await downloads({ ...attachment, sizeBytes: 999_999_999_999_999 })).toBe('MEDIA_TOO_LARGE')
  expect(pieces).toBe(4)
  // The sender may say any size of the same class: zeros follow.
  const longer = { ...attachment, sizeBytes: file.sizeBytes + 1 }
  expect(await downloads(longer)).toBe('done')
  expect(await downloads({ ...attachment, fileKey: new Uint8Array(32) })).toBe('MEDIA_ALTERED')
  const missing = file.mediaKey.replace(/[^_](?=\.h)/, (last) => (last === 'a' ? 'b' : 'a'))
  expect(await downloads({ ...attachment, mediaKey: missing })).toBe('NOT_FOUND')
  expect(await downloads({ ...attachment, mediaKey: 'no-key-of-a-relay' })).toBe('INVALID_FIELD')
  const carol = await world.join('carol')
  await alice.befriend(carol)
  const foreign = await new Media(alice.client).upload(carol.alias, bytes)
  expect(await downloads({ ...attachment, mediaKey: foreign.mediaKey })).toBe('MEDIA_ALTERED')
  const most = { mediaKey: uploaded.mediaKey }
  const small = new Media(bob.client).download(conversation, most, { maxBytes: CHUNK })
  expect(await codeOf(small)).toBe('MEDIA_TOO_LARGE')
  const endless = { ...attachment, sizeBytes: 10 ** 15 }
  expect(await arrives(endless)).toMatchObject({ msgType: 'unknown', text: '' })
  const nameless = await arrives({ ...attachment, name: '\u202e' })
  expect(nameless).toMatchObject({ msgType: 'file', caption: 'file' })
  expect([...alice.heard.error, ...bob.heard.error]).toEqual([])
})
