// Media between two people over a real relay: a transfer arrives unchanged or fails.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { lstat, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type RelayProcess, startRelay } from '@sotto/relay/testing'
import vectors from '../../../vectors/content.json'
import { contentOf, type FetchLike, Media, type StoredMessage, type TransferProgress } from '../src/client.ts'
import { intoFile } from '../src/media/into-file.ts'
import { codeOf, filesOf, MIB, noise } from './media-world.ts'
import { Person, until } from './people.ts'

const CHUNK = 5 * MIB
const STORED_CHUNK = CHUNK + 32

let relay: RelayProcess
let folder: string
let alice: Person
let bob: Person
let media: { alice: Media; bob: Media }

/** If set, bob gets these bytes for every blob, and the answer gives their length as the blob's size. */
let served: Uint8Array<ArrayBuffer> | undefined
const fetchOrLie: FetchLike = async (url, init) => {
  if (!served || !url.includes('/media/download')) return fetch(url, init)
  const range = /bytes=(\d+)-(\d+)/.exec(new Headers(init.headers).get('range') ?? '')
  const [first = 0, last = 0] = (range ?? []).slice(1).map(Number)
  const end = Math.min(last + 1, served.length)
  const headers = { 'content-range': `bytes ${first}-${end - 1}/${served.length}` }
  return new Response(served.slice(first, end), { status: 206, headers })
}

beforeAll(async () => {
  relay = await startRelay()
  folder = await mkdtemp(join(tmpdir(), 'sotto-media-'))
  alice = await Person.join('alice', relay.url)
  bob = await Person.join('bob', relay.url, { fetch: fetchOrLie })
  await alice.befriend(bob)
  media = { alice: new Media(alice.client), bob: new Media(bob.client) }
}, 120_000)
afterAll(async () => {
  await Promise.all([alice.client.close(), bob.client.close()])
  await relay.stop()
  await rm(folder, { recursive: true })
})
afterEach(async () => {
  served = undefined
  expect(await readdir(folder)).toEqual([])
})

/** Waits until bob has received alice's message, and returns it as bob sees it. */
async function received(sent: StoredMessage): Promise<StoredMessage & { mediaUrl: string }> {
  const message = await until('bob receives the message', () =>
    bob.heard.message.find(({ id }) => id === sent.id),
  )
  if (message.mediaUrl === undefined) throw new Error('the message names no media')
  return { ...message, mediaUrl: message.mediaUrl }
}

async function bytesOf(blob: Blob): Promise<Uint8Array> {
  return new Uint8Array(await blob.arrayBuffer())
}

describe('sent media arrive unchanged', () => {
  test('as an image, a file and a voice message, in the text forms of the protocol', async () => {
    const bytes = noise(3000)
    const messages = [
      await media.alice.sendImage(bob.alias, new Blob([bytes]), { isOriginal: true }),
      await media.alice.sendFile(bob.alias, new File([bytes], 'notes.txt')),
      await media.alice.sendVoice(bob.alias, bytes, 1500, { id: 'voice-1' }),
    ]
    const key = 'm_[\\w-]{22}\\.h[\\w-]{43}'
    const forms = [`[img]${key}`, `[file]${key}\\|notes\\.txt\\|3000`, `[voice]${key}\\|1500`]
    for (const [at, sent] of messages.entries()) {
      const message = await received(sent)
      expect(message.text).toMatch(
        new RegExp(`^${forms[at]?.replaceAll('[', '\\[').replaceAll('\\[\\w', '[\\w') ?? ''}$`),
      )
      const content = contentOf(message)
      if (!content || content.kind === 'text') throw new Error('the message names no media')
      const { data, isProven, sizeBytes } = await media.bob.download(message.conversationId, content)
      expect([isProven, sizeBytes, data.type]).toEqual([true, 3000, ''])
      expect(await bytesOf(data)).toEqual(bytes)
    }
    expect(messages[2]?.id).toBe('voice-1')
  })

  test.each([0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK])(
    'with %p bytes, from a file and from a stream',
    async (size) => {
      const bytes = noise(size)
      const cut = Math.floor(size / 3)
      const stream = new ReadableStream<Uint8Array>({
        start(controller) {
          controller.enqueue(bytes.subarray(0, cut))
          controller.enqueue(bytes.subarray(cut))
          controller.close()
        },
      })
      for (const source of [new Blob([bytes]), stream]) {
        const { mediaKey, sizeBytes } = await media.alice.upload(bob.alias, source)
        const { data, isProven } = await media.bob.download(alice.alias, { mediaKey })
        expect([sizeBytes, data.size, isProven]).toEqual([size, size, true])
        expect(Buffer.compare(await bytesOf(data), bytes)).toBe(0)
      }
    },
    60_000,
  )

  test('with what the application says of them, and their size', async () => {
    const [{ thumbnail } = { thumbnail: '' }] = vectors.sent.flatMap(({ content: { thumbnail } }) =>
      thumbnail === undefined ? [] : [{ thumbnail }],
    )
    const details = { width: 40, height: 30, thumbnail }
    const source = new Blob([noise(300)])
    const image = await media.alice.sendImage(bob.alias, source, { isOriginal: true, details })
    expect(await received(image)).toMatchObject({ ...details, sizeBytes: 300 })
    // Bun shows no images, so without `details` only the size is known.
    const plain = await received(await media.alice.sendImage(bob.alias, source, { isOriginal: true }))
    expect(plain).toMatchObject({ sizeBytes: 300 })
    expect(plain).not.toHaveProperty('width')
    const voice = await media.alice.sendVoice(bob.alias, source, 1500, { waveform: [0, 50, 100] })
    expect(await received(voice)).toMatchObject({ durationMs: 1500, waveform: [0, 50, 100] })
  })

  test('uploads and downloads report their progress', async () => {
    const bytes = noise(2 * CHUNK + 7)
    const up: TransferProgress[] = []
    const down: TransferProgress[] = []
    const { mediaKey } = await media.alice.upload(bob.alias, bytes, { onProgress: (at) => up.push(at) })
    await media.bob.download(alice.alias, { mediaKey }, { onProgress: (at) => down.push(at) })
    const totalBytes = bytes.length
    const steps = [CHUNK, 2 * CHUNK, totalBytes].map((doneBytes) => ({ doneBytes, totalBytes }))
    expect(up).toEqual(steps)
    expect(down).toEqual(steps)
  }, 120_000)

  test('a download into a file creates the file only when it is complete', async () => {
    const bytes = noise(CHUNK + 7)
    const { mediaKey } = await media.alice.upload(bob.alias, bytes)
    const path = join(folder, 'photo.jpg')
    const seen: string[][] = []
    const options = { into: intoFile(path), onProgress: () => seen.push(readdirSync(folder)) }
    const { data } = await media.bob.downloadInto(alice.alias, { mediaKey }, options)
    expect(data).toBe(path)
    expect(seen).toEqual([['photo.jpg.part'], ['photo.jpg.part']])
    expect(await readdir(folder)).toEqual(['photo.jpg'])
    expect(Buffer.compare(await readFile(path), bytes)).toBe(0)
    await rm(path)
  }, 120_000)

  test('a download into a file neither follows a link at its path nor keeps the mode of an old file', async () => {
    const { mediaKey } = await media.alice.upload(bob.alias, noise(9))
    const [path, other] = [join(folder, 'photo.jpg'), join(folder, 'other')]
    await writeFile(other, 'of another user')
    const spoolInto = async (): Promise<number> => {
      const into = intoFile(path)
      await into.write(new Uint8Array(1))
      const { mode } = await stat(`${path}.part`)
      await into.discard()
      return mode & 0o777
    }
    // A file that a crashed download left.
    await writeFile(`${path}.part`, 'of a crash', { mode: 0o644 })
    expect(await spoolInto()).toBe(0o600)
    await symlink(other, `${path}.part`)
    await media.bob.downloadInto(alice.alias, { mediaKey }, { into: intoFile(path) })
    expect(await readFile(other, 'utf8')).toBe('of another user')
    expect([(await lstat(path)).isFile(), (await stat(path)).mode & 0o777]).toEqual([true, 0o600])
    await Promise.all([rm(path), rm(other)])
  })

  test('of two downloads into one file only the last one creates it', async () => {
    const path = join(folder, 'photo.jpg')
    const [first, second] = [intoFile(path), intoFile(path)]
    await first.write(new Uint8Array(100).fill(1))
    await second.write(new Uint8Array(10).fill(2))
    expect(await codeOf(first.finish())).toBe('STORE_FAILED')
    await second.finish()
    await first.discard()
    expect([...(await readFile(path))]).toEqual(new Array(10).fill(2))
    await rm(path)
  })

  test('a download into a file that cannot be written fails with STORE_FAILED and leaves no file', async () => {
    const { mediaKey } = await media.alice.upload(bob.alias, noise(9))
    for (const path of [join(folder, 'no', 'such', 'folder'), folder]) {
      const into = intoFile(path)
      expect(await codeOf(media.bob.downloadInto(alice.alias, { mediaKey }, { into }))).toBe('STORE_FAILED')
    }
    expect(await Bun.file(`${folder}.part`).exists()).toBe(false)
  })
})

describe('the client refuses altered media and shows nothing of them', () => {
  /** Uploads, and returns the path of the relay's file for it. */
  async function uploadToFile(from: Media, bytes: Uint8Array<ArrayBuffer>) {
    const before = await filesOf(relay.dataDir)
    const { mediaKey } = await from.upload(bob.alias, bytes)
    const [path = ''] = (await filesOf(relay.dataDir)).filter((path) => !before.includes(path))
    return { mediaKey, path }
  }

  /**
   * Uploads three chunks, changes the relay's file, and downloads with the full key and without its digest.
   */
  async function tamper(
    change: (stored: Buffer) => Buffer,
  ): Promise<{ proven: string; bare: string; left: string[] }> {
    const { mediaKey, path } = await uploadToFile(media.alice, noise(2 * CHUNK + 100))
    await writeFile(path, change(await readFile(path)))
    const into = join(folder, 'out')
    const proven = await codeOf(media.bob.downloadInto(alice.alias, { mediaKey }, { into: intoFile(into) }))
    const left = await readdir(folder)
    const bare = await codeOf(
      media.bob
        .download(alice.alias, { mediaKey: mediaKey.replace(/\.h.*/, '') })
        .then(({ isProven }) => expect(isProven).toBe(false)),
    )
    return { proven, bare, left }
  }

  const [one, two, three] = [
    (stored: Buffer) => stored.subarray(0, STORED_CHUNK),
    (stored: Buffer) => stored.subarray(STORED_CHUNK, 2 * STORED_CHUNK),
    (stored: Buffer) => stored.subarray(2 * STORED_CHUNK),
  ]
  const REFUSED = { proven: 'MEDIA_ALTERED', bare: 'MEDIA_ALTERED', left: [] }
  // Chunks contain neither their position nor their number, so only the digest reveals these changes.
  const REFUSED_BY_DIGEST = { proven: 'MEDIA_ALTERED', bare: 'done', left: [] }

  test('a flipped bit in the first chunk or the last', async () => {
    for (const at of [1000, 2 * STORED_CHUNK + 50]) {
      const flipped = await tamper((stored) => {
        stored[at] = (stored[at] ?? 0) ^ 1
        return stored
      })
      expect(flipped).toEqual(REFUSED)
    }
  }, 120_000)

  test('chunks in another order', async () => {
    expect(await tamper((stored) => Buffer.concat([two(stored), one(stored), three(stored)]))).toEqual(
      REFUSED_BY_DIGEST,
    )
  }, 120_000)

  test('a chunk that replaces another one', async () => {
    expect(await tamper((stored) => Buffer.concat([one(stored), one(stored), three(stored)]))).toEqual(
      REFUSED_BY_DIGEST,
    )
  }, 120_000)

  test('a chunk length past the end of the blob', async () => {
    const wrong = await tamper((stored) => {
      stored.writeUInt32BE(0xffffffff, STORED_CHUNK)
      return stored
    })
    expect(wrong).toEqual(REFUSED)
  }, 120_000)

  test('a chunk of another conversation', async () => {
    const carol = await Person.join('carol', relay.url)
    await carol.befriend(bob)
    const { mediaKey, path } = await uploadToFile(new Media(carol.client), noise(CHUNK))
    expect(await codeOf(media.bob.download(alice.alias, { mediaKey }))).toBe('MEDIA_ALTERED')
    const theirs = await readFile(path)
    expect(await tamper((stored) => Buffer.concat([one(stored), theirs, three(stored)]))).toEqual(REFUSED)
    await carol.client.close()
  }, 120_000)

  test('a blob whose last chunks are missing, and one with a chunk too many', async () => {
    const { mediaKey, path } = await uploadToFile(media.alice, noise(2 * CHUNK + 100))
    const stored = await readFile(path)
    const lies = [
      { blob: one(stored), bare: 'done' },
      { blob: Buffer.concat([stored, three(stored)]), bare: 'done' },
      { blob: stored.subarray(0, -1), bare: 'MEDIA_ALTERED' },
      { blob: stored.subarray(0, STORED_CHUNK + 3), bare: 'MEDIA_ALTERED' },
    ]
    for (const { blob, bare } of lies) {
      served = new Uint8Array(blob)
      const proven = await codeOf(media.bob.download(alice.alias, { mediaKey }))
      const bareKey = mediaKey.replace(/\.h.*/, '')
      expect([proven, await codeOf(media.bob.download(alice.alias, { mediaKey: bareKey }))]).toEqual([
        'MEDIA_ALTERED',
        bare,
      ])
    }
  }, 120_000)

  test('a key with the digest of another blob', async () => {
    const { mediaKey } = await media.alice.upload(bob.alias, noise(10))
    const other = await media.alice.upload(bob.alias, noise(10))
    const swapped = `${mediaKey.replace(/\.h.*/, '')}${other.mediaKey.replace(/^[^.]*/, '')}`
    expect(await codeOf(media.bob.download(alice.alias, { mediaKey: swapped }))).toBe('MEDIA_ALTERED')
  })

  test('a key with an invalid digest', async () => {
    const { mediaKey } = await media.alice.upload(bob.alias, noise(10))
    expect(await codeOf(media.bob.download(alice.alias, { mediaKey: mediaKey.slice(0, -1) }))).toBe(
      'MEDIA_ALTERED',
    )
  })
})
