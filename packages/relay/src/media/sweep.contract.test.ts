// The sweep removes everything that has expired, and nothing that a row names.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defaultLimits } from '@sotto/protocol'
import { ampleBudget, ampleSpace } from '../../test/ample-space.ts'
import { engines, type TestStore } from '../../test/engines.ts'
import { clockAt } from '../../test/mailbox-world.ts'
import { addAccount } from '../accounts/accounts.ts'
import { createLog } from '../operations/log.ts'
import { systemRandom } from '../operations/random.ts'
import type { AccountId } from '../storage/storage.ts'
import type { BlobStore } from './blob-store.ts'
import { addBlob, eraseMedia, findStoredBlob, usageOf } from './blobs.ts'
import { completeUpload, type UploadParts } from './completing.ts'
import { openFolderStore } from './folder-store.ts'
import { Sweep } from './sweep.ts'
import { WriteQueue } from './write-queue.ts'
import { writePart } from './writing.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const never = new AbortController().signal

for (const engine of engines) {
  describe(`on ${engine.name}`, () => {
    let database: TestStore
    let folder: string
    let store: BlobStore
    let parts: UploadParts & { clock: ReturnType<typeof clockAt> }
    let sweep: Sweep
    let account: AccountId

    beforeEach(async () => {
      database = await engine.open()
      folder = await mkdtemp(join(tmpdir(), 'sotto-sweep-'))
      store = await openFolderStore(folder)
      const clock = clockAt(Date.now())
      const { storage } = database
      parts = {
        storage,
        store,
        clock,
        randomBytes: systemRandom,
        limits: defaultLimits(),
        budget: ampleBudget,
        space: ampleSpace,
        queue: new WriteQueue(),
      }
      sweep = new Sweep({ ...parts, log: createLog('silent') })
      account = await storage.transaction(async (sql) => {
        const keys = { ed25519PublicKey: crypto.randomUUID(), x25519PublicKey: crypto.randomUUID() }
        await addAccount(sql, { ...keys, nickname: 'n' }, parts)
        const [row] = await sql<{ id: AccountId }>`SELECT id FROM accounts`
        if (!row) throw new Error('no account was added')
        return row.id
      })
    })

    afterEach(async () => {
      await database.remove()
      await rm(folder, { recursive: true })
    })

    const files = async (): Promise<string[]> => {
      const entries = await readdir(folder, { recursive: true, withFileTypes: true })
      return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
    }
    /** Runs enough passes to check each of the folders that objects are spread over. */
    const sweepAll = async (): Promise<void> => {
      for (let round = 0; round < 260; round++) await sweep.run(never, true)
    }
    const upload = async () => {
      const { blob, uploadId } = await addBlob(account, { state: 'open' }, parts)
      await store.begin(blob.object)
      const of = { uploadId, account, mediaKey: blob.media_key }
      const body = { pieces: new Blob(['hello']).stream(), length: 5, mostBytes: 100 }
      const etag = await writePart({ ...of, number: 1 }, body, parts)
      return { blob, complete: () => completeUpload(of, [{ part_number: 1, etag }], parts) }
    }

    test('an abandoned upload is removed after its time, with its parts, and its space is released', async () => {
      await upload()
      parts.clock.advance(23 * HOUR_MS)
      await sweep.run(never, true)
      expect((await usageOf(parts.storage.sql, account)).bytes).toBe(5)
      expect(await files()).toHaveLength(1)
      parts.clock.advance(2 * HOUR_MS)
      await sweep.run(never, true)
      expect(await usageOf(parts.storage.sql, account)).toEqual({ bytes: 0, parts: 0 })
      expect(await files()).toEqual([])
    })

    test('an expired blob is removed, but not while the clock is not trusted', async () => {
      const { blob, complete } = await upload()
      await complete()
      parts.clock.advance(59 * DAY_MS)
      await sweep.run(never, true)
      expect(await findStoredBlob(parts.storage.sql, blob.media_key)).toBeDefined()
      parts.clock.advance(2 * DAY_MS)
      await sweep.run(never, false)
      expect(await files()).toHaveLength(1)
      await sweep.run(never, true)
      expect(await findStoredBlob(parts.storage.sql, blob.media_key)).toBeUndefined()
      expect(await files()).toEqual([])
    })

    test('an expired link that was not used releases its space', async () => {
      await addBlob(account, { state: 'awaited', exactBytes: 1000 }, parts)
      expect((await usageOf(parts.storage.sql, account)).bytes).toBe(1000)
      parts.clock.advance(HOUR_MS)
      await sweep.run(never, true)
      expect((await usageOf(parts.storage.sql, account)).bytes).toBe(0)
    })

    test('the files of a deleted account are removed', async () => {
      await (await upload()).complete()
      await upload()
      await eraseMedia(account, { storage: parts.storage, signal: never })
      expect(await files()).toHaveLength(2)
      await sweep.run(never, true)
      expect(await files()).toEqual([])
    })

    test('space that a process reserved before it died is released', async () => {
      const { blob } = await upload()
      const [row] = await parts.storage.sql<{
        id: number
      }>`SELECT id FROM media_blobs WHERE object = ${blob.object}`
      await parts.storage.transaction(async (sql) => {
        await sql`
          INSERT INTO media_writes (blob, part_number, version, bytes, expires_at)
          VALUES (${row?.id ?? 0}, 2, 'dead', 700, ${parts.clock.now() + HOUR_MS})`
        await sql`UPDATE media_blobs SET bytes = bytes + 700, parts = parts + 1`
      })
      const left = join(folder, blob.object.slice(0, 2), `${blob.object}.parts`, '2.dead')
      await writeFile(left, 'half')
      parts.clock.advance(2 * HOUR_MS)
      await sweep.run(never, true)
      expect(await usageOf(parts.storage.sql, account)).toEqual({ bytes: 5, parts: 1 })
      expect(await files()).toHaveLength(1)
    })

    test('unknown files are removed once they are old, and files that a row names stay', async () => {
      const [stored, open] = [await upload(), await upload()]
      await stored.complete()
      const named = await files()
      const strangers = ['00'.repeat(16), 'ff'.repeat(16)].map((name) => join(folder, name.slice(0, 2), name))
      const leftovers = join(folder, stored.blob.object.slice(0, 2), `${stored.blob.object}.parts`)
      const others = [join(folder, 'README'), join(folder, '00', 'notes.txt')]
      for (const file of [...strangers, ...others]) {
        await mkdir(join(file, '..'), { recursive: true })
        await writeFile(file, 'x')
      }
      await mkdir(leftovers)
      await writeFile(join(leftovers, '1.gone'), 'x')
      await sweepAll()
      expect((await files()).length).toBe(named.length + 5)
      const old = new Date(parts.clock.now() - 2 * HOUR_MS)
      for (const file of [...strangers, ...others, ...named, leftovers, join(leftovers, '1.gone')]) {
        await utimes(file, old, old)
      }
      await sweepAll()
      expect((await files()).toSorted()).toEqual([...named, ...others].toSorted())
      expect(await open.complete()).toBe(5)
    })
  })
}
