// What every store for blobs must do: one suite, run on a folder and on Swift.
import { afterAll, beforeAll, describe, expect, spyOn, test } from 'bun:test'
import { mkdtemp, open, readdir, rm, stat, truncate } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { failureOf } from '../../../protocol/test/failure-of.ts'
import { bytesInFolder, bytesInSwift } from '../../test/media-bytes.ts'
import { startSwift } from '../../test/swift-server.ts'
import { systemClock } from '../operations/clock.ts'
import { systemRandom } from '../operations/random.ts'
import {
  type BlobStore,
  BlobStoreError,
  type DirectAccess,
  type StoredPart,
  type UploadPlace,
} from './blob-store.ts'
import { newObject } from './blobs.ts'
import { openFolderStore } from './folder-store.ts'
import { S3Requests } from './s3-requests.ts'
import { S3Store } from './s3-store.ts'

const MIB = 1024 * 1024
const LARGE = 5 * MIB

const swift = async (): Promise<BlobStore> => {
  const { endpoint, bucket, ...rest } = await startSwift()
  const address = new URL(endpoint)
  const config = { kind: 's3', bucket, ...rest, endpoint: address, publicEndpoint: address } as const
  const requests = new S3Requests({ ...config, isPathStyle: true }, systemClock)
  const spoolFolder = await mkdtemp(join(tmpdir(), 'sotto-media-'))
  folders.push(spoolFolder)
  return new S3Store(requests, { bucket, prefix: `${newObject(systemRandom)}/`, spoolFolder })
}

const folders: string[] = []
const folder = async (): Promise<BlobStore> => {
  const path = await mkdtemp(join(tmpdir(), 'sotto-media-'))
  folders.push(path)
  return await openFolderStore(path)
}

afterAll(async () => {
  for (const path of folders) await rm(path, { recursive: true })
})

for (const { name, openStore, storedBytes } of [
  { name: 'a folder', openStore: folder, storedBytes: () => bytesInFolder(folders.at(-1) ?? '') },
  { name: 'Swift', openStore: swift, storedBytes: async () => bytesInSwift((await startSwift()).disk) },
]) {
  describe(name, () => {
    let store: BlobStore
    let versions = 0
    beforeAll(async () => {
      store = await openStore()
    }, 120_000)

    const version = (): string => `v${++versions}`
    const begin = async (): Promise<UploadPlace> => {
      const object = newObject(systemRandom)
      return { object, handle: await store.begin(object) }
    }
    const put = async (place: UploadPlace, number: number, bytes: Uint8Array): Promise<StoredPart> => {
      const body = { pieces: inPieces(bytes), length: bytes.byteLength }
      const written = await store.writePart(place, { number, version: version() }, body)
      return { part_number: number, ...written }
    }
    const read = async (object: string, bytes: number, from = 0, to = bytes - 1): Promise<Buffer> =>
      Buffer.from(await new Response(await store.read({ object, bytes }, { from, to })).bytes())

    test('reads a blob as it was written, whole and in ranges across parts', async () => {
      const place = await begin()
      const [first, second] = [bytesOf(LARGE), bytesOf(1000)]
      const parts = [await put(place, 1, first), await put(place, 2, second)]
      expect(parts.map(({ bytes }) => bytes)).toEqual([LARGE, 1000])
      expect(await store.complete(place, parts)).toBe('done')
      const whole = Buffer.concat([first, second])
      expect(Buffer.compare(await read(place.object, LARGE + 1000), whole)).toBe(0)
      for (const [from, to] of [
        [0, 0],
        [LARGE - 3, LARGE + 2],
        [LARGE, LARGE + 999],
        [10, LARGE + 10],
      ] as const) {
        const range = await read(place.object, LARGE + 1000, from, to)
        expect(Buffer.compare(range, whole.subarray(from, to + 1))).toBe(0)
      }
    }, 60_000)

    test('can be completed again, and by two requests at the same time', async () => {
      const place = await begin()
      const parts = [await put(place, 1, bytesOf(LARGE)), await put(place, 2, bytesOf(10))]
      const twice = await Promise.all([store.complete(place, parts), store.complete(place, parts)])
      expect(twice).toEqual(['done', 'done'])
      expect(await store.complete(place, parts)).toBe('done')
      await store.tidy({ object: place.object, bytes: LARGE + 10 })
      expect((await read(place.object, LARGE + 10)).length).toBe(LARGE + 10)
    }, 60_000)

    test('uses the version of a part that is named, and reports a version that it does not have', async () => {
      const place = await begin()
      const before = await put(place, 1, bytesOf(100))
      const bytes = bytesOf(200)
      const after = await put(place, 1, bytes)
      expect(after.etag).not.toBe(before.etag)
      await store.dropPart(place, { number: 1, etag: before.etag })
      const unknown = { ...after, etag: '0'.repeat(32) }
      expect(await store.complete(place, [unknown])).toBe('changed')
      expect(await store.complete(place, [after])).toBe('done')
      expect(Buffer.compare(await read(place.object, 200), Buffer.from(bytes))).toBe(0)
    }, 60_000)

    test('keeps nothing of a part that was cut off', async () => {
      const place = await begin()
      async function* broken(): AsyncGenerator<Uint8Array> {
        yield bytesOf(70_000)
        await Bun.sleep(50)
        throw new Error('cut')
      }
      for (const length of [100_000, undefined]) {
        const body = { pieces: broken(), length }
        const writing = store.writePart(place, { number: 1, version: version() }, body)
        expect(await writing.catch((error) => String(error))).toContain('cut')
      }
      const part = await put(place, 1, bytesOf(5))
      expect(await store.complete(place, [part])).toBe('done')
      expect((await read(place.object, 5)).length).toBe(5)
    }, 60_000)

    test('holds only the parts that are named, once the upload is completed', async () => {
      const before = await storedBytes()
      const place = await begin()
      const [first] = [await put(place, 1, bytesOf(9000)), await put(place, 2, bytesOf(70_000))]
      await put(place, 4, bytesOf(80_000))
      expect(await store.complete(place, [first], true)).toBe('done')
      expect((await storedBytes()) - before).toBe(9000)
      await store.remove(place.object)
      expect((await storedBytes()) - before).toBe(0)
    }, 60_000)

    test('accepts a part of unknown length', async () => {
      const place = await begin()
      const bytes = bytesOf(300_000)
      const body = { pieces: inPieces(bytes), length: undefined }
      const { etag, bytes: written } = await store.writePart(place, { number: 1, version: version() }, body)
      expect(written).toBe(300_000)
      await store.complete(place, [{ part_number: 1, etag, bytes: written }])
      expect(Buffer.compare(await read(place.object, 300_000), Buffer.from(bytes))).toBe(0)
    }, 60_000)

    test('removes an object in any state, also repeatedly, and lists the remaining objects', async () => {
      const [open, complete, kept] = [await begin(), await begin(), await begin()]
      await put(open, 1, bytesOf(10))
      for (const place of [complete, kept]) {
        await store.complete(place, [await put(place, 1, bytesOf(10))])
      }
      expect(await listAll(store)).toEqual(expect.arrayContaining([complete.object, kept.object]))
      for (let times = 0; times < 2; times++) {
        for (const { object } of [open, complete]) await store.remove(object)
      }
      const left = await listAll(store)
      expect(left).toContain(kept.object)
      expect(left).not.toContain(complete.object)
      expect(left).not.toContain(open.object)
      expect(await failureOf(read(complete.object, 10))).toBeInstanceOf(Error)
      const late = put(open, 2, bytesOf(10)).then(
        () => 'written',
        () => 'refused',
      )
      expect(await late).toBe('refused')
    }, 60_000)
  })
}

test('a folder returns what was written: in any order, repeatedly, after cut-off parts, and by two processes', async () => {
  const mine = await folder()
  const later = await openFolderStore(folders.at(-1) ?? '')
  for (let round = 0; round < 150; round++) {
    const object = newObject(systemRandom)
    const place = { object, handle: await mine.begin(object) }
    const there = new Map<number, { part: StoredPart; bytes: Uint8Array }>()
    const count = 1 + Math.floor(Math.random() * 6)
    const numbers = Array.from({ length: count }, (_, i) => i + 1)
    const extra = numbers.filter(() => Math.random() < 0.3)
    const order = Math.random() < 0.5 ? [...numbers, ...extra] : [...extra, ...numbers].toReversed()
    let writes = 0
    for (const number of order) {
      const store = Math.random() < 0.2 ? later : mine
      const bytes = bytesOf(1 + Math.floor(Math.random() * 3000))
      const version = `${round}_${++writes}`
      const length = Math.random() < 0.8 ? bytes.length : undefined
      if (Math.random() < 0.3) {
        const cut = { pieces: cutOff(bytes), length }
        await store.writePart(place, { number, version: `${version}_cut` }, cut).catch(() => undefined)
      }
      const written = await store.writePart(place, { number, version }, { pieces: inPieces(bytes), length })
      const before = there.get(number)
      there.set(number, { part: { part_number: number, ...written }, bytes })
      if (before) await store.dropPart(place, { number, etag: before.part.etag })
    }
    const parts = numbers.flatMap((number) => there.get(number) ?? [])
    const whole = Buffer.concat(parts.map(({ bytes }) => bytes))
    const completing = parts.map(({ part }) => part)
    expect(await later.complete(place, completing)).toBe('done')
    const range = { from: 0, to: whole.length - 1 }
    const got = await new Response(await mine.read({ object, bytes: whole.length }, range)).bytes()
    expect(Buffer.compare(got, whole)).toBe(0)
  }
}, 60_000)

test('a folder keeps only the last version of a part that is written repeatedly', async () => {
  const store = await folder()
  const place = { object: newObject(systemRandom), handle: '' }
  await store.begin(place.object)
  let before: string | undefined
  for (let times = 0; times < 20; times++) {
    const body = { pieces: inPieces(bytesOf(1000)), length: 1000 }
    const { etag } = await store.writePart(place, { number: 1, version: `v${times}` }, body)
    if (before) await store.dropPart(place, { number: 1, etag: before })
    before = etag
  }
  const parts = join(folders.at(-1) ?? '', place.object.slice(0, 2), `${place.object}.parts`)
  const sizes = await Promise.all(
    (await readdir(parts)).map(async (name) => (await stat(join(parts, name))).size),
  )
  expect(sizes.toSorted()).toEqual([0, 1000])
})

test('a folder that fails at any step of joining parts holds at most one part twice, and a repeat finishes it', async () => {
  const file = await open(import.meta.path)
  // Five parts and two folders are synced.
  for (let steps = 0; steps < 7; steps++) {
    const store = await folder()
    const root = folders.at(-1) ?? ''
    const place = { object: newObject(systemRandom), handle: '' }
    await store.begin(place.object)
    const sent = new Map<number, { part: StoredPart; bytes: Uint8Array }>()
    for (const number of [3, 1, 2, 5, 4, 2]) {
      const bytes = bytesOf(4096 * number)
      const body = { pieces: inPieces(bytes), length: bytes.length }
      const written = await store.writePart(place, { number, version: `v${sent.size}_${number}` }, body)
      sent.set(number, { part: { part_number: number, ...written }, bytes })
    }
    const parts = [1, 2, 3, 4, 5].flatMap((number) => sent.get(number) ?? [])
    const whole = Buffer.concat(parts.map(({ bytes }) => bytes))
    const named = parts.map(({ part }) => part)
    const before = await bytesInFolder(root)

    let left = steps
    const prototype = Object.getPrototypeOf(file)
    const { sync } = prototype
    const failing = spyOn(prototype, 'sync').mockImplementation(async function (this: unknown) {
      if (left-- <= 0) throw new Error('the disk is gone')
      return await sync.call(this)
    })
    expect(await failureOf(store.complete(place, named))).toBeInstanceOf(BlobStoreError)
    failing.mockRestore()
    expect(await bytesInFolder(root)).toBeLessThanOrEqual(before + 5 * 4096)

    const later = await openFolderStore(root)
    expect(await later.complete(place, named)).toBe('done')
    expect(await bytesInFolder(root)).toBe(whole.length)
    const range = { from: 0, to: whole.length - 1 }
    const got = await new Response(await later.read({ ...place, bytes: whole.length }, range)).bytes()
    expect(Buffer.compare(got, whole)).toBe(0)
  }
  await file.close()
})

test('two processes that complete an upload in a folder at the same time both get the blob', async () => {
  for (let round = 0; round < 20; round++) {
    const [mine, root] = [await folder(), folders.at(-1) ?? '']
    const other = await openFolderStore(root)
    const place = { object: newObject(systemRandom), handle: '' }
    await mine.begin(place.object)
    const bytes = [1, 2, 3].map((number) => bytesOf(3000 * number))
    const parts: StoredPart[] = []
    for (const number of [3, 2, 1]) {
      const piece = bytes[number - 1] ?? new Uint8Array()
      const body = { pieces: inPieces(piece), length: piece.length }
      const written = await mine.writePart(place, { number, version: `v${number}` }, body)
      parts.unshift({ part_number: number, ...written })
    }
    const completing = [mine, other].map((store) => store.complete(place, parts))
    for (const [at, done] of (await Promise.allSettled(completing)).entries()) {
      if (done.status === 'fulfilled') expect(done.value).toBe('done')
      else expect(done.reason).toBeInstanceOf(BlobStoreError)
      expect(await [mine, other][at]?.complete(place, parts)).toBe('done')
    }
    const whole = Buffer.concat(bytes)
    const range = { from: 0, to: whole.length - 1 }
    const got = await new Response(await mine.read({ ...place, bytes: whole.length }, range)).bytes()
    expect(Buffer.compare(got, whole)).toBe(0)
  }
})

async function* cutOff(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes.slice(0, bytes.length / 2)
  throw new Error('cut')
}

test('a folder refuses a part that a power cut made shorter', async () => {
  const store = await folder()
  const place = { object: newObject(systemRandom), handle: '' }
  await store.begin(place.object)
  const body = { pieces: inPieces(bytesOf(1000)), length: 1000 }
  const { etag } = await store.writePart(place, { number: 1, version: 'v' }, body)
  const file = join(folders.at(-1) ?? '', place.object.slice(0, 2), `${place.object}.parts`, 'run_v')
  await truncate(file, 500)
  const part = { part_number: 1, bytes: 1000, etag }
  expect(await store.complete(place, [part])).toBe('changed')
  await rm(file)
  expect(await store.complete(place, [part])).toBe('changed')
})

test('if a folder already has the complete blob, it answers only when the name is on stable storage', async () => {
  const store = await folder()
  const place = { object: newObject(systemRandom), handle: '' }
  await store.begin(place.object)
  const body = { pieces: inPieces(bytesOf(1000)), length: 1000 }
  const part = { part_number: 1, ...(await store.writePart(place, { number: 1, version: 'v' }, body)) }
  await store.complete(place, [part])
  // The first process may have died after the rename and before it synced the folder.
  const handle = await open(import.meta.path)
  const syncing = spyOn(Object.getPrototypeOf(handle), 'sync')
  expect(await store.complete(place, [part])).toBe('done')
  expect(syncing).toHaveBeenCalledTimes(2)
  syncing.mockRestore()
  await handle.close()
})

test('a blob written through a link is copied once, so that the link can no longer change it', async () => {
  const { direct } = await swift()
  if (!direct) throw new Error('the store for Swift has no links')
  const [from, to] = [newObject(systemRandom), newObject(systemRandom)]
  expect(await direct.find(from)).toBeUndefined()
  const link = await direct.linkToWrite(from, { seconds: 60, bytes: 2000 })
  for (const bytes of [1999, 2001, 5]) {
    expect((await fetch(link, { method: 'PUT', body: bytesOf(bytes) })).ok).toBe(false)
  }
  expect((await fetch(link, { method: 'PUT', body: bytesOf(2000) })).ok).toBe(true)
  const first = await direct.find(from)
  if (!first) throw new Error('nothing was written')
  const second = bytesOf(2000)
  await fetch(link, { method: 'PUT', body: second })
  expect(await direct.copy(first, to)).toBe(false)
  expect(await direct.find(to)).toBeUndefined()
  expect(await direct.copy((await direct.find(from)) ?? first, to)).toBe(true)
  await fetch(link, { method: 'PUT', body: bytesOf(2000) })
  expect(Buffer.compare(await readOf(direct, to), Buffer.from(second))).toBe(0)
}, 60_000)

async function readOf(direct: DirectAccess, object: string): Promise<Buffer> {
  return Buffer.from(await (await fetch(await direct.linkToRead(object, { seconds: 60 }))).bytes())
}

async function listAll(store: BlobStore): Promise<string[]> {
  const found: string[] = []
  let after: string | undefined
  do {
    const { objects, next } = await store.list(after)
    for (const { object, modifiedAt } of objects) {
      expect(Math.abs(Date.now() - modifiedAt)).toBeLessThan(600_000)
      found.push(object)
    }
    after = next
  } while (after !== undefined)
  return found
}

function bytesOf(length: number): Uint8Array<ArrayBuffer> {
  return crypto.getRandomValues(new Uint8Array(Math.min(length, 65_536))).length === length
    ? crypto.getRandomValues(new Uint8Array(length))
    : new Uint8Array(Buffer.alloc(length, crypto.getRandomValues(new Uint8Array(65_521))))
}

// Separate copies of the pieces, because a store may modify them.
async function* inPieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 100_000) yield bytes.slice(at, at + 100_000)
}
