// Uploads of sealed sources continue where they were, after the program was started again.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { failureOf } from '../../protocol/test/failure-of.ts'
import { type BegunUpload, type FetchLike, intoBlob, Media, MemoryStore } from '../src/client.ts'
import { MIB, noise } from './media-world.ts'
import { type Person, until } from './people.ts'
import { PeopleWorld } from './people-world.ts'

setDefaultTimeout(240_000)

const CHUNK = 5 * MIB
const world = new PeopleWorld()

/** Alice's chunks that the relay was sent, by number. */
let sent: string[] = []
/** The number of the chunk at which alice's program ends. */
let endsAt: string | undefined
let end: () => void = () => {}
/** The number of the chunk that does not arrive until its request is aborted. */
let holdsAt: string | undefined
const fetchOrEnd: FetchLike = async (url, init) => {
  const { searchParams, pathname } = new URL(url)
  const number = pathname.endsWith('/chunk') ? searchParams.get('partNumber') : null
  if (number !== null && number === endsAt) {
    end()
    throw new TypeError('the program has ended')
  }
  if (number !== null) sent.push(number)
  if (number !== null && number === holdsAt)
    await new Promise((_, reject) => init?.signal?.addEventListener('abort', reject))
  return fetch(url, init)
}

/** Alice with a store that stays, and a sealed source of three chunks. */
async function aliceSeals(): Promise<{
  alice: Person
  bob: Person
  store: MemoryStore
  source: Blob
  sealed: Blob
}> {
  sent = []
  endsAt = undefined
  holdsAt = undefined
  const store = new MemoryStore()
  const [alice, bob] = await world.friends({ store, fetch: fetchOrEnd })
  const source = new Blob([noise(2 * CHUNK + 7)])
  const sealed = await new Media(alice.client).seal(bob.alias, source, { into: intoBlob() })
  return { alice, bob, store, source, sealed }
}

test('after the program was started again, only what is missing is uploaded', async () => {
  const { alice, bob, store, source, sealed } = await aliceSeals()
  expect(sealed.size).toBe(source.size + 3 * 32)
  let begun: BegunUpload | undefined
  endsAt = '3'
  const ended = new Promise<void>((resolve) => {
    end = () => void alice.client.close().then(resolve)
  })
  const onBegun = (upload: BegunUpload): void => {
    begun = upload
  }
  const first = new Media(alice.client).upload(bob.alias, source, { sealed: { blob: sealed, onBegun } })
  expect(await failureOf(first)).toMatchObject({ code: 'CLOSED' })
  await ended
  expect(sent).toEqual(['1', '2'])
  if (!begun) throw new Error('the upload has begun')

  store.reopen()
  endsAt = undefined
  const again = await world.open('alice', { store, fetch: fetchOrEnd })
  const media = new Media(again.client)
  const progress: number[] = []
  const { mediaKey, sizeBytes } = await media.upload(bob.alias, await media.unseal(bob.alias, sealed), {
    sealed: { blob: sealed, begun },
    onProgress: ({ doneBytes }) => progress.push(doneBytes),
  })
  expect(sent).toEqual(['1', '2', '3'])
  expect(sizeBytes).toBe(source.size)
  expect(progress).toEqual([CHUNK, 2 * CHUNK, source.size])
  expect(mediaKey).toStartWith(begun.mediaKey)
  const { data, isProven } = await new Media(bob.client).download(alice.alias, { mediaKey })
  expect(isProven).toBe(true)
  expect(Buffer.compare(await bytesOf(data), await bytesOf(source))).toBe(0)
})

test('an upload ends when another device replaces this one, and continues when this one connects', async () => {
  const { alice, bob, source, sealed } = await aliceSeals()
  const media = new Media(alice.client)
  let begun: BegunUpload | undefined
  const onBegun = (upload: BegunUpload): void => {
    begun = upload
  }
  const other = await world.open('the other device')
  await other.client.recover({ mnemonic: await alice.client.recoveryPhrase() })
  holdsAt = '2'
  // At once: it fails while the other device is still connecting.
  const failure = failureOf(media.upload(bob.alias, source, { sealed: { blob: sealed, onBegun } }))
  await until('the second chunk is on its way', () => sent.includes('2'))
  await other.connect()
  expect(await failure).toMatchObject({ code: 'SIGNED_OUT' })
  expect(alice.heard.goaway).toEqual([{ reason: 'new_device_login' }])

  holdsAt = undefined
  await alice.connect()
  if (!begun) throw new Error('the upload has begun')
  sent = []
  const { mediaKey } = await media.upload(bob.alias, source, { sealed: { blob: sealed, begun } })
  expect(sent).toEqual(['2', '3'])
  expect(mediaKey).toStartWith(begun.mediaKey)
})

test('an upload that the relay has lost begins anew', async () => {
  const { alice, bob, source, sealed } = await aliceSeals()
  const media = new Media(alice.client)
  const begun: BegunUpload[] = []
  const options = { blob: sealed, onBegun: (upload: BegunUpload) => void begun.push(upload) }
  // Aborted, so it is removed from the relay.
  const abort = new AbortController()
  const aborted = media.upload(bob.alias, source, {
    sealed: options,
    signal: abort.signal,
    onProgress: () => abort.abort(),
  })
  expect(await failureOf(aborted)).toMatchObject({ code: 'ABORTED' })
  const [lost] = begun
  if (!lost) throw new Error('the upload has begun')
  const { mediaKey } = await media.upload(bob.alias, source, { sealed: { ...options, begun: lost } })
  expect(begun).toHaveLength(2)
  expect(mediaKey).not.toStartWith(lost.mediaKey)
  const { data } = await new Media(bob.client).download(alice.alias, { mediaKey })
  expect(Buffer.compare(await bytesOf(data), await bytesOf(source))).toBe(0)
})

test('what was sealed for one contact is not sent to another one', async () => {
  const { alice, source, sealed } = await aliceSeals()
  const carol = await world.join('carol')
  await alice.befriend(carol)
  const media = new Media(alice.client)
  expect(await failureOf(media.unseal(carol.alias, sealed))).toMatchObject({ code: 'KEY_CHANGED' })
  const wrong = media.upload(carol.alias, source, { sealed: { blob: sealed } })
  expect(await failureOf(wrong)).toMatchObject({ code: 'KEY_CHANGED' })
  expect(sent).toEqual([])
})

async function bytesOf(blob: Blob): Promise<Uint8Array> {
  return new Uint8Array(await blob.arrayBuffer())
}
