// A store that always fails for some objects: the failure is logged, and the sweep still handles all other
// objects.
import { afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defaultLimits } from '@sotto/protocol'
import { ampleBudget, ampleSpace } from '../../test/ample-space.ts'
import { engines, type TestStore } from '../../test/engines.ts'
import { clockAt } from '../../test/mailbox-world.ts'
import { startSwift } from '../../test/swift-server.ts'
import { addAccount } from '../accounts/accounts.ts'
import { systemClock } from '../operations/clock.ts'
import { createLog } from '../operations/log.ts'
import { systemRandom } from '../operations/random.ts'
import type { AccountId } from '../storage/storage.ts'
import { addBlob, type BlobRow, doomObject, findStoredBlob, newObject } from './blobs.ts'
import type { UploadParts } from './completing.ts'
import { S3Requests } from './s3-requests.ts'
import { S3Store } from './s3-store.ts'
import { Sweep } from './sweep.ts'
import { WriteQueue } from './write-queue.ts'

const DAY_MS = 86_400_000
const never = new AbortController().signal
/** The store refuses every request for this key, because no key may contain this character. */
const refusedObject = (n: number): string => `${n}%00`

let database: TestStore
let folder: string
let store: S3Store
let parts: UploadParts & { clock: ReturnType<typeof clockAt> }
let account: AccountId
let failures: unknown[]
let sweep: Sweep

// Starting Swift takes most of the time.
beforeAll(async () => void (await startSwift()), 300_000)

beforeEach(async () => {
  const { endpoint, ...rest } = await startSwift()
  const address = new URL(endpoint)
  folder = await mkdtemp(join(tmpdir(), 'sotto-sweep-'))
  const [engine] = engines
  if (!engine) throw new Error('there is no engine')
  database = await engine.open()
  const { storage } = database
  const clock = clockAt(Date.now())
  const config = {
    kind: 's3',
    ...rest,
    endpoint: address,
    publicEndpoint: address,
    isPathStyle: true,
  } as const
  const requests = new S3Requests(config, systemClock)
  store = new S3Store(requests, {
    bucket: rest.bucket,
    prefix: `${newObject(systemRandom)}/`,
    spoolFolder: folder,
  })
  const limits = { ...defaultLimits(), mediaUploads: 100 }
  parts = {
    storage,
    store,
    clock,
    randomBytes: systemRandom,
    limits,
    budget: ampleBudget,
    space: ampleSpace,
    queue: new WriteQueue(),
  }
  failures = []
  const error = (event: string): unknown => failures.push(event)
  sweep = new Sweep({ ...parts, log: { ...createLog('silent'), error } })
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

/** A blob that waits to be written through a link, with this object name if given. */
async function link(object?: string): Promise<BlobRow> {
  const { blob } = await addBlob(account, { state: 'awaited', exactBytes: 5 }, parts)
  if (object !== undefined)
    await parts.storage.transaction(
      (sql) => sql`UPDATE media_blobs SET object = ${object} WHERE id = ${blob.id}`,
    )
  return blob
}

async function write({ object }: BlobRow): Promise<void> {
  const url = await store.direct.linkToWrite(object, { seconds: 60, bytes: 5 })
  const { status } = await fetch(url, { method: 'PUT', body: 'hello' })
  expect(status).toBe(200)
}

const stateOf = async ({ id }: BlobRow): Promise<string | undefined> =>
  (await parts.storage.sql<{ state: string }>`SELECT state FROM media_blobs WHERE id = ${id}`)[0]?.state
const doomed = async (): Promise<string[]> =>
  (await parts.storage.sql<{ object: string }>`SELECT object FROM media_doomed`).map(({ object }) => object)

test('a link that cannot be adopted blocks nothing: others are adopted, uploads expire, objects are removed', async () => {
  const refused = await link(refusedObject(0))
  const good = await link()
  await write(good)
  const { blob: open } = await addBlob(account, { state: 'open' }, parts)
  parts.clock.advance(2 * DAY_MS)
  await sweep.run(never, true)
  expect(failures).toEqual(['media_failed'])
  expect(await findStoredBlob(parts.storage.sql, good.media_key)).toMatchObject({ bytes: 5 })
  expect(await stateOf(open)).toBeUndefined()
  expect(await doomed()).toEqual([])
  expect(await stateOf(refused)).toBe('awaited')
})

test('many links that cannot be adopted do not block those after them', async () => {
  for (let n = 0; n < 7; n++) await link(refusedObject(n))
  const good = await link()
  await write(good)
  parts.clock.advance(DAY_MS)
  for (let round = 0; round < 3; round++) await sweep.run(never, true)
  expect(failures).toHaveLength(7)
  expect(await findStoredBlob(parts.storage.sql, good.media_key)).toMatchObject({ bytes: 5 })
})

test('many objects that cannot be removed do not block those after them', async () => {
  await parts.storage.transaction(async (sql) => {
    for (let n = 0; n < 7; n++) await doomObject(sql, refusedObject(n))
    await doomObject(sql, 'z')
  })
  for (let round = 0; round < 3; round++) await sweep.run(never, true)
  expect(failures).toHaveLength(7)
  expect(await doomed()).toHaveLength(7)
  expect(await doomed()).not.toContain('z')
})
