// Words beside images and files: a part of the message with forward secrecy, a message of their own without.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { parseSealedFile } from '@sotto/crypto'
import { failureOf } from '../../protocol/test/failure-of.ts'
import { exportArchive, importArchive } from '../src/archive/archive.ts'
import { contentOf, Media, MemoryStore, Search, SottoClient, type StoredMessage } from '../src/client.ts'
import { forwardFriends, sendContent } from './forward-people.ts'
import { noise } from './media-world.ts'
import { type Person, until } from './people.ts'
import { PeopleWorld } from './people-world.ts'

setDefaultTimeout(240_000)

const world = new PeopleWorld()
const PASSPHRASE = 'twelve random words would be better'

async function received(to: Person, id: string): Promise<StoredMessage> {
  return until(`${to.name} receives the message`, () => to.heard.message.find((each) => each.id === id))
}

function wordsOf(message: StoredMessage): string | undefined {
  const content = contentOf(message)
  return content && 'words' in content ? content.words : undefined
}

test('words go with an image and a file, are found, are kept by an archive, and go when it is retracted', async () => {
  const [alice, bob] = await forwardFriends(world)
  const media = new Media(alice.client)
  const image = await media.sendImage(bob.alias, new Blob([noise(100)]), {
    ...{ isOriginal: true, details: { width: 4, height: 3 }, words: 'the harbour\nat dusk' },
  })
  const file = await media.sendFile(bob.alias, noise(100), { name: 'plan.pdf', words: 'page two, please' })
  const [theirImage, theirFile] = [await received(bob, image.id), await received(bob, file.id)]
  expect(contentOf(theirImage)).toMatchObject({ kind: 'image', width: 4, words: 'the harbour\nat dusk' })
  expect(contentOf(theirFile)).toMatchObject({ kind: 'file', name: 'plan.pdf', words: 'page two, please' })
  for (const [own, theirs] of [
    [image, theirImage],
    [file, theirFile],
  ] as const)
    expect(contentOf(own)).toEqual(contentOf(theirs))
  const search = new Search(bob.client)
  const [harbour] = (await search.find('harbour')).results
  expect([harbour?.message.id, harbour?.text]).toEqual([image.id, 'the harbour\nat dusk'])
  const [byWords] = (await search.find('please')).results
  const [byName] = (await search.find('plan')).results
  expect([byWords?.message.id, byWords?.text]).toEqual([file.id, 'page two, please\nplan.pdf'])
  expect(byName?.message.id).toBe(file.id)

  // The same content for somebody else, as applications pass it on.
  const again = await alice.client.send(bob.alias, {
    ...contentOf(image),
    kind: 'image',
    mediaKey: keyOf(image),
  })
  expect(wordsOf(await received(bob, again.id))).toBe('the harbour\nat dusk')

  const archive = exportArchive(bob.client, PASSPHRASE)
  const other = await SottoClient.open({ relayUrl: world.relay.url, store: new MemoryStore() })
  await importArchive(other, archive, PASSPHRASE)
  const kept = (await other.messages(image.conversationId)).find(({ id }) => id === file.id)
  expect(kept && wordsOf(kept)).toBe('page two, please')
  await other.close()

  await alice.client.retract(bob.alias, file.id)
  const gone = await until('Bob sees it retracted', () => bob.heard.retracted[0])
  for (const message of [gone, await bob.store.findMessage(file.conversationId, false, file.id)])
    expect(JSON.stringify(message)).not.toContain('page two')
  expect((await search.find('please')).results).toEqual([])
  expect([...alice.heard.error, ...bob.heard.error]).toEqual([])
})

test('without forward secrecy they come as a message before the file, once', async () => {
  const [alice, bob] = [await world.join('alice'), await world.join('bob')]
  await alice.befriend(bob)
  const { id: replyToId } = await bob.client.send(alice.alias, 'which page?')
  await alice.receives('which page?')
  const media = new Media(alice.client)
  const options = { name: 'plan.pdf', words: 'page two', id: 'file-1', replyToId }
  const file = await media.sendFile(bob.alias, noise(10), options)
  expect(await media.sendFile(bob.alias, noise(10), options)).toMatchObject({ id: file.id })
  const theirs = await received(bob, file.id)
  expect(theirs).not.toHaveProperty('words')
  expect(theirs).not.toHaveProperty('replyToId')
  const shown = (await bob.client.messages(alice.alias)).filter(({ isMe }) => !isMe)
  expect(shown.map(({ id, text, msgType }) => [id, msgType === 'text' ? text : msgType])).toEqual([
    ['file-1-words', 'page two'],
    ['file-1', 'file'],
  ])
  expect(shown[0]).toMatchObject({ replyToId })
  const { mediaKey } = { mediaKey: keyOf(file) }
  const refused = await failureOf(
    alice.client.send(bob.alias, { kind: 'image', mediaKey, words: 'no place' }),
  )
  expect(refused).toMatchObject({ code: 'INVALID_ARGUMENT', message: 'invalid words' })
})

test('words that cannot be sent are refused before anything is uploaded', async () => {
  const [alice, bob] = await forwardFriends(world)
  const media = new Media(alice.client)
  const long = { name: 'a', words: 'é'.repeat(20_001) }
  expect(await failureOf(media.sendFile(bob.alias, noise(1), long))).toMatchObject({
    code: 'MESSAGE_TOO_LARGE',
  })
  // As an application in JavaScript may call it.
  const odd = { name: 'a', words: 5 as unknown as string }
  expect(await failureOf(media.sendFile(bob.alias, noise(1), odd))).toMatchObject({
    code: 'INVALID_ARGUMENT',
  })
  const longest = { name: 'a', words: 'é'.repeat(20_000) }
  const { id } = await media.sendFile(bob.alias, noise(1), longest)
  expect(wordsOf(await received(bob, id))).toBe(longest.words)

  // Where there is no place for them, nothing is stored.
  const own = await media.upload(bob.alias, noise(1))
  const before = await alice.client.messages(bob.alias)
  const { mediaKey: bare } = parseSealedFile(own.mediaKey) ?? { mediaKey: '' }
  for (const content of [
    { kind: 'image', mediaKey: bare, words: 'no key' },
    { kind: 'voice', mediaKey: own.mediaKey, durationMs: 1, words: 'not here' },
    { kind: 'image', mediaKey: own.mediaKey, words: 5 as unknown as string },
    { kind: 'image', mediaKey: own.mediaKey, words: 'é'.repeat(21_500) },
  ] as const) {
    const { code } = (await failureOf(alice.client.send(bob.alias, content))) as { code?: string }
    expect(['INVALID_ARGUMENT', 'MESSAGE_TOO_LARGE']).toContain(code ?? '')
  }
  expect(await alice.client.messages(bob.alias)).toEqual(before)

  const file = parseSealedFile(own.mediaKey)
  if (!file) throw new Error('the file has a key of its own')
  const attachment = { kind: 'attachment', isImage: false, name: 'a', ...file } as const
  const empty = await received(bob, await sendContent(alice, bob.alias, { ...attachment, caption: '' }))
  expect(empty.msgType).toBe('file')
  expect(empty).not.toHaveProperty('words')
  expect([...alice.heard.error, ...bob.heard.error]).toEqual([])
})

function keyOf(message: StoredMessage): string {
  const content = contentOf(message)
  if (!content || content.kind === 'text') throw new Error('the message has a file')
  return content.mediaKey
}
