// A process that dies between any two steps of completing: a repeated request gets the blob, and without one
// nothing remains.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defaultLimits } from '@sotto/protocol'
import { ampleBudget, ampleSpace } from '../../test/ample-space.ts'
import { engines, type TestStore } from '../../test/engines.ts'
import { clockAt } from '../../test/mailbox-world.ts'
import { bytesInSwift, LEAST_PART_BYTES } from '../../test/media-bytes.ts'
import { expectAllCounted } from '../../test/media-counting.ts'
import { addTestAccount, dyingStorage } from '../../test/media-counting-world.ts'
import { startSwift } from '../../test/swift-server.ts'
import { addAccount } from '../accounts/accounts.ts'
import { systemClock } from '../operations/clock.ts'
import { createLog } from '../operations/log.ts'
import { systemRandom } from '../operations/random.ts'
import type { AccountId } from '../storage/storage.ts'
import type { BlobStore } from './blob-store.ts'
import {
  addBlob,
  type BlobRow,
  findStoredBlob,
  listParts,
  markCompleting,
  newObject,
  usageOf,
} from './blobs.ts'
import { adopt, completeUpload, type UploadParts } from './completing.ts'
import { openFolderStore } from './folder-store.ts'
import { S3Requests } from './s3-requests.ts'
import { S3Store } from './s3-store.ts'
import { Sweep } from './sweep.ts'
import { WriteQueue } from './write-queue.ts'
import { writePart } from './writing.ts'

const HOUR_MS = 3_600_000
const never = new AbortController().signal

const MIB = 1024 * 1024

const openSwift = async (spoolFolder: string, prefix: string): Promise<S3Store> => {
  const { endpoint, bucket, ...rest } = await startSwift()
  const address = new URL(endpoint)
  const config = { kind: 's3', bucket, ...rest, endpoint: address, publicEndpoint: address } as const
  const requests = new S3Requests({ ...config, isPathStyle: true }, systemClock)
  return new S3Store(requests, { bucket, prefix, spoolFolder })
}

/** The stores. After `rounds` passes the sweep has checked every object of the store. */
const places = [
  { name: 'a folder', rounds: 260, open: (folder: string) => openFolderStore(folder) },
  {
    name: 'Swift',
    rounds: 2,
    // The same prefix each time the store is opened.
    open: (folder: string) => openSwift(folder, `${folder.replaceAll(/\W/g, '')}/`),
  },
]

for (const engine of engines) {
  for (const place of places) {
    describe(`on ${engine.name}, in ${place.name}`, () => {
      let database: TestStore
      let folder: string
      let parts: UploadParts & { clock: ReturnType<typeof clockAt> }
      let account: AccountId

      beforeEach(async () => {
        database = await engine.open()
        folder = await mkdtemp(join(tmpdir(), 'sotto-completing-'))
        const { storage } = database
        const clock = clockAt(Date.now())
        const shared = {
          storage,
          clock,
          randomBytes: systemRandom,
          limits: defaultLimits(),
          budget: ampleBudget,
          space: ampleSpace,
        }
        parts = { ...shared, store: await place.open(folder), queue: new WriteQueue() }
        account = await storage.transaction(async (sql) => {
          const keys = { ed25519PublicKey: crypto.randomUUID(), x25519PublicKey: crypto.randomUUID() }
          await addAccount(sql, { ...keys, nickname: 'n' }, parts)
          const [row] = await sql<{ id: AccountId }>`SELECT id FROM accounts`
          if (!row) throw new Error('no account was added')
          return row.id
        })
      }, 120_000)

      afterEach(async () => {
        await database.remove()
        await rm(folder, { recursive: true })
      })

      /** Uploads one part. `completeLater` completes the upload as a newly started process does. */
      const upload = async () => {
        const { blob: begun, uploadId } = await addBlob(account, { state: 'open' }, parts)
        const handle = await parts.store.begin(begun.object)
        await parts.storage.transaction(
          (sql) => sql`UPDATE media_blobs SET handle = ${handle} WHERE id = ${begun.id}`,
        )
        const blob: BlobRow = { ...begun, handle }
        const of = { uploadId, account, mediaKey: blob.media_key }
        const body = { pieces: new Blob(['hello']).stream(), length: 5, mostBytes: 100 }
        const etag = await writePart({ ...of, number: 1 }, body, parts)
        const completeLater = async (): Promise<number> => {
          const later = { ...parts, store: await place.open(folder), queue: new WriteQueue() }
          return await completeUpload(of, [{ part_number: 1, etag }], later)
        }
        return { blob, completeLater }
      }

      const read = async ({ object }: BlobRow): Promise<string> =>
        await new Response(await parts.store.read({ object, bytes: 5 }, { from: 0, to: 4 })).text()

      const objectsOf = async (store: BlobStore): Promise<string[]> => {
        const found: string[] = []
        for (let after: string | undefined, isFirst = true; isFirst || after !== undefined; isFirst = false) {
          const { objects, next } = await store.list(after)
          found.push(...objects.map(({ object }) => object))
          after = next
        }
        return found
      }

      /** The moments at which the process dies. `until` takes the steps that it completed before. */
      const deaths: { when: string; until(blob: BlobRow): Promise<void> }[] = [
        {
          when: 'before the store got the request',
          until: (blob) => parts.storage.transaction((sql) => markCompleting(sql, blob, parts)),
        },
        {
          when: 'after the store had joined the parts',
          until: async (blob) => {
            const there = await listParts(parts.storage.sql, blob.id)
            await parts.storage.transaction((sql) => markCompleting(sql, blob, parts))
            expect(await parts.store.complete(blob, there)).toBe('done')
          },
        },
        {
          when: 'before the remains of the parts were removed',
          until: async (blob) => {
            const there = await listParts(parts.storage.sql, blob.id)
            await parts.storage.transaction((sql) => markCompleting(sql, blob, parts))
            expect(await parts.store.complete(blob, there)).toBe('done')
            const left = join(folder, blob.object.slice(0, 2), `${blob.object}.parts`)
            await mkdir(left, { recursive: true })
            await writeFile(join(left, '1.left'), 'half')
          },
        },
      ]

      for (const { when, until } of deaths) {
        test(`died ${when}: a repeated request gets the blob; without one nothing remains`, async () => {
          const [asked, forgotten] = [await upload(), await upload()]
          await until(asked.blob)
          await until(forgotten.blob)
          const sweep = new Sweep({ ...parts, log: createLog('silent') })
          await sweep.run(never, true)
          expect(await asked.completeLater()).toBe(5)
          expect(await asked.completeLater()).toBe(5)
          expect(await read(asked.blob)).toBe('hello')

          parts.clock.advance(25 * HOUR_MS)
          for (let round = 0; round < place.rounds; round++) await sweep.run(never, true)
          const key = forgotten.blob.media_key
          expect(await findStoredBlob(parts.storage.sql, key)).toBeUndefined()
          expect(await objectsOf(parts.store)).toEqual([asked.blob.object])
          expect(await usageOf(parts.storage.sql, account)).toEqual({ bytes: 5, parts: 1 })
          expect(await read(asked.blob)).toBe('hello')
        }, 60_000)
      }

      test('an object that a process copied before it died is removed, and objects that a row names stay', async () => {
        const { blob, completeLater } = await upload()
        await completeLater()
        const object = newObject(systemRandom)
        const stranger = { object, handle: await parts.store.begin(object) }
        const body = { pieces: new Blob(['copy']).stream(), length: 4 }
        const written = await parts.store.writePart(stranger, { number: 1, version: 'v' }, body)
        await parts.store.complete(stranger, [{ part_number: 1, ...written }])
        const sweep = new Sweep({ ...parts, log: createLog('silent') })
        for (let round = 0; round < place.rounds; round++) await sweep.run(never, true)
        expect((await objectsOf(parts.store)).toSorted()).toEqual([blob.object, object].toSorted())
        parts.clock.advance(2 * HOUR_MS)
        for (let round = 0; round < place.rounds; round++) await sweep.run(never, true)
        expect(await objectsOf(parts.store)).toEqual([blob.object])
      }, 60_000)
    })
  }
}

test('in Swift, the bytes that are stored never exceed those that count, and a blob holds exactly its parts', async () => {
  const [sqlite] = engines
  if (!sqlite) throw new Error('there is no engine')
  const [database, folder] = [await sqlite.open(), await mkdtemp(join(tmpdir(), 'sotto-counting-'))]
  try {
    const { disk } = await startSwift()
    const openPlace = async () => {
      const [prefix, before] = [`${newObject(systemRandom)}/`, await bytesInSwift(disk)]
      return {
        open: () => openSwift(folder, prefix),
        storedBytes: async () => (await bytesInSwift(disk)) - before,
      }
    }
    // Swift completes an upload of several parts only if all but the last have 5 MiB.
    const sizes = [1, 2, (5 * MIB) / LEAST_PART_BYTES]
    await expectAllCounted({ storage: database.storage, openPlace }, { sizes, runs: 4 })
  } finally {
    await database.remove()
    await rm(folder, { recursive: true })
  }
}, 120_000)

test('in Swift, a link counts until it expires, as often as it is written, and however many requests read it', async () => {
  const [sqlite] = engines
  if (!sqlite) throw new Error('there is no engine')
  const [database, folder] = [await sqlite.open(), await mkdtemp(join(tmpdir(), 'sotto-links-'))]
  try {
    const { storage } = database
    const { disk } = await startSwift()
    const before = await bytesInSwift(disk)
    const stored = async (): Promise<number> => (await bytesInSwift(disk)) - before
    const clock = clockAt(Date.now())
    const store = await openSwift(folder, `${newObject(systemRandom)}/`)
    const shared = { storage, clock, randomBytes: systemRandom, limits: defaultLimits() }
    const parts = { ...shared, store, budget: ampleBudget, space: ampleSpace, queue: new WriteQueue() }
    const account = await addTestAccount(storage)
    const counted = async (): Promise<number> => (await usageOf(storage.sql, account)).bytes
    const bytes = 5 * LEAST_PART_BYTES
    const { blob } = await addBlob(account, { state: 'awaited', exactBytes: bytes }, parts)
    const url = await store.direct.linkToWrite(blob.object, { seconds: 900, bytes })
    const write = async (): Promise<void> => {
      expect((await fetch(url, { method: 'PUT', body: new Uint8Array(bytes) })).ok).toBe(true)
    }

    await write()
    const adopted = await Promise.all(Array.from({ length: 5 }, () => adopt(blob, parts)))
    expect(adopted.map((found) => found?.bytes)).toEqual([bytes, bytes, bytes, bytes, bytes])
    expect(new Set(adopted.map((found) => found?.object)).size).toBe(1)
    const sweep = new Sweep({ ...parts, log: createLog('silent') })
    for (let times = 0; times < 2; times++) {
      await write()
      await sweep.run(never, true)
      expect([await stored(), await counted()]).toEqual([2 * bytes, 2 * bytes])
    }
    clock.advance(HOUR_MS)
    await sweep.run(never, true)
    expect([await stored(), await counted()]).toEqual([bytes, bytes])

    // A process that dies after it has copied the blob.
    const { blob: other } = await addBlob(account, { state: 'awaited', exactBytes: bytes }, parts)
    const otherUrl = await store.direct.linkToWrite(other.object, { seconds: 900, bytes })
    await fetch(otherUrl, { method: 'PUT', body: new Uint8Array(bytes) })
    const died = Promise.withResolvers<void>()
    const dying = { ...parts, queue: new WriteQueue(), storage: dyingStorage(storage, 1, died.resolve) }
    void adopt(other, dying)
    await died.promise
    expect(await stored()).toBe(3 * bytes)
    expect(await counted()).toBe(3 * bytes)
    expect((await adopt(other, parts))?.bytes).toBe(bytes)
    expect(await stored()).toBeLessThanOrEqual(await counted())
    clock.advance(2 * HOUR_MS)
    await sweep.run(never, true)
    expect([await stored(), await counted()]).toEqual([2 * bytes, 2 * bytes])
  } finally {
    await database.remove()
    await rm(folder, { recursive: true })
  }
}, 120_000)
