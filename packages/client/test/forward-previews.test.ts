// Previews of images that are files of their own, each with its own key.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { parseSealedFile } from '@sotto/crypto'
import type { SecretAttachment } from '@sotto/crypto/version-3'
import { failureOf } from '../../protocol/test/failure-of.ts'
import { contentOf, type FetchLike, Media, type StoredMessage } from '../src/client.ts'
import { forwardSecrecy } from '../src/forward-secrecy/entry.ts'
import { sendContent, spiedFriends, untilVersion3 } from './forward-people.ts'
import { codeOf, noise } from './media-world.ts'
import { type Person, until } from './people.ts'
import { PeopleWorld } from './people-world.ts'

setDefaultTimeout(240_000)

const world = new PeopleWorld()

async function received(to: Person, id: string): Promise<StoredMessage> {
  return until(`${to.name} receives the message`, () => to.heard.message.find((each) => each.id === id))
}

function imageOf(message: StoredMessage): { readonly mediaKey: string; readonly previewKey?: string } {
  const content = contentOf(message)
  if (content?.kind !== 'image') throw new Error('the message has an image')
  return content
}

const isOriginal = true

test('a preview has its own key, comes without the image, and goes with the message', async () => {
  const [alice, bob, asked] = await spiedFriends(world)
  const [bytes, small] = [noise(200_000), noise(3000)]
  const preview = new Blob([small])
  const sent = await new Media(alice.client).sendImage(bob.alias, new Blob([bytes]), {
    ...{ isOriginal, details: { width: 40, height: 30 }, preview, words: 'the harbour' },
  })
  const theirs = await received(bob, sent.id)
  const { mediaKey, previewKey = '' } = imageOf(theirs)
  expect(imageOf(theirs)).toEqual(imageOf(sent))
  expect(contentOf(theirs)).toMatchObject({ width: 40, words: 'the harbour', sizeBytes: bytes.length })
  const [own, ofImage] = [parseSealedFile(previewKey), parseSealedFile(mediaKey)]
  expect(own?.sizeBytes).toBe(small.length)
  expect(own?.fileKey).not.toEqual(ofImage?.fileKey)
  asked.length = 0
  const media = new Media(bob.client)
  const { data } = await media.download(theirs.conversationId, { mediaKey: previewKey }, { maxBytes: 4000 })
  expect(Buffer.compare(new Uint8Array(await data.arrayBuffer()), small)).toBe(0)
  expect(asked).toHaveLength(1)
  expect(asked.join()).not.toContain(previewKey.split('#')[1]?.slice(0, 64))

  const [again] = [await alice.client.send(bob.alias, { kind: 'image', mediaKey, previewKey })]
  expect(imageOf(await received(bob, again.id))).toMatchObject({ mediaKey, previewKey })
  await alice.client.retract(bob.alias, sent.id)
  const gone = await until('Bob sees it retracted', () => bob.heard.retracted[0])
  for (const message of [gone, await bob.store.findMessage(sent.conversationId, false, sent.id)])
    expect(JSON.stringify(message)).not.toContain('#')
  expect([...alice.heard.error, ...bob.heard.error]).toEqual([])
})

test('without forward secrecy no preview is uploaded, and none is taken from an application', async () => {
  let uploads = 0
  const counting: FetchLike = (url, init) => {
    if (new URL(url).pathname.endsWith('/upload-parts/init')) uploads += 1
    return fetch(url, init)
  }
  const alice = await world.join('alice', { fetch: counting })
  const bob = await world.join('bob')
  await alice.befriend(bob)
  const media = new Media(alice.client)
  const preview = new Blob([noise(10)])
  const sent = await media.sendImage(bob.alias, new Blob([noise(100)]), { isOriginal, details: {}, preview })
  expect(uploads).toBe(1)
  const { mediaKey } = imageOf(await received(bob, sent.id))
  expect(imageOf(sent)).not.toHaveProperty('previewKey')
  const previewKey = `m_0#${'0'.repeat(64)}.1`
  const refused = await failureOf(alice.client.send(bob.alias, { kind: 'image', mediaKey, previewKey }))
  expect(refused).toMatchObject({ code: 'INVALID_ARGUMENT', message: 'invalid previewKey' })
})

test('a hostile preview is refused before it is loaded, or by its first bytes, and the image stays', async () => {
  const ranges: (string | null)[] = []
  const spied: FetchLike = (url, init) => {
    if (url.includes('/media/download')) ranges.push(new Headers(init?.headers).get('range'))
    return fetch(url, init)
  }
  const alice = await world.join('alice', { forwardSecrecy: forwardSecrecy() })
  const bob = await world.join('bob', { forwardSecrecy: forwardSecrecy(), fetch: spied })
  const conversation = await alice.befriend(bob)
  await untilVersion3(alice, bob)
  const [media, theirs] = [new Media(alice.client), new Media(bob.client)]
  const uploaded = await media.upload(bob.alias, noise(1_000_000))
  const file = parseSealedFile(uploaded.mediaKey)
  if (!file) throw new Error('the file has a key of its own')
  const arrives = async (preview: SecretAttachment['preview']): Promise<string | undefined> => {
    const content = { kind: 'attachment', isImage: true, ...file, preview } as const
    const message = await received(bob, await sendContent(alice, bob.alias, content))
    expect(message).toMatchObject({ msgType: 'image', sizeBytes: file.sizeBytes })
    return imageOf(message).previewKey
  }
  const loads = (previewKey = ''): Promise<string> =>
    codeOf(theirs.download(conversation, { mediaKey: previewKey }, { maxBytes: 300_000 }))

  expect(await loads(await arrives({ place: 'file', ...file }))).toBe('MEDIA_TOO_LARGE')
  expect(ranges).toEqual([])
  // It says that it is small, so no more than that is asked for.
  expect(await loads(await arrives({ place: 'file', ...file, sizeBytes: 1000 }))).toBe('MEDIA_ALTERED')
  expect(ranges).toEqual(['bytes=0-1039'])
  const missing = { ...file, mediaKey: 'no-key-of-a-relay' }
  expect(await loads(await arrives({ place: 'file', ...missing, sizeBytes: 5 }))).toBe('INVALID_FIELD')
  expect(await arrives({ place: 'file', ...file, sizeBytes: 10 ** 15 })).toBeUndefined()

  const { mediaKey } = uploaded
  const before = await alice.client.messages(bob.alias)
  for (const previewKey of [
    file.mediaKey,
    mediaKey.replace(/^/, 'not a key '),
    mediaKey.replace('#', '#0'),
    5 as unknown as string,
  ])
    expect(
      await failureOf(alice.client.send(bob.alias, { kind: 'image', mediaKey, previewKey })),
    ).toMatchObject({ code: 'INVALID_ARGUMENT' })
  expect(await alice.client.messages(bob.alias)).toEqual(before)
  expect([...alice.heard.error, ...bob.heard.error]).toEqual([])
})
