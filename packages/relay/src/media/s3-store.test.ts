// An S3-compatible store over a bad network: requests without an answer end, and a cut connection is
// reported.
import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { failureOf } from '../../../protocol/test/failure-of.ts'
import { type BadWay, startBadWay } from '../../test/bad-way.ts'
import { startSwift } from '../../test/swift-server.ts'
import type { After } from '../operations/after.ts'
import { systemClock } from '../operations/clock.ts'
import { systemRandom } from '../operations/random.ts'
import {
  BlobStoreError,
  type IncomingBytes,
  PartLeftOver,
  type StoredBlob,
  type UploadPlace,
} from './blob-store.ts'
import { newObject } from './blobs.ts'
import { S3Requests } from './s3-requests.ts'
import { S3Store } from './s3-store.ts'

const MIB = 1024 * 1024

let way: BadWay
/** A store whose time limits end only when a test says so. */
let store: S3Store
let spoolFolder: string
/** What the time limits that run do at their end. */
const limits = new Set<() => void>()
const after: After = (_ms, run) => {
  limits.add(run)
  return () => limits.delete(run)
}

/** Lets every time limit end that runs. */
function endLimits(): void {
  for (const run of limits) run()
}

beforeAll(async () => {
  const { endpoint, ...rest } = await startSwift()
  way = await startBadWay(endpoint)
  spoolFolder = await mkdtemp(join(tmpdir(), 'sotto-spool-'))
  const address = new URL(way.url)
  const config = {
    kind: 's3',
    ...rest,
    endpoint: address,
    publicEndpoint: address,
    isPathStyle: true,
  } as const
  const place = { bucket: rest.bucket, prefix: `${newObject(systemRandom)}/`, spoolFolder }
  store = new S3Store(new S3Requests(config, systemClock, after), place)
}, 120_000)
afterAll(async () => {
  await way.stop()
  await rm(spoolFolder, { recursive: true })
})
afterEach(async () => {
  way.mend()
  expect(await readdir(spoolFolder)).toEqual([])
})

async function begin(): Promise<UploadPlace> {
  const object = newObject(systemRandom)
  return { object, handle: await store.begin(object) }
}

const part = { number: 1, version: 'v' }

function bodyOf(bytes: Uint8Array<ArrayBuffer>, more: Partial<IncomingBytes> = {}): IncomingBytes {
  return { pieces: new Blob([bytes]).stream(), length: bytes.length, ...more }
}

async function stored(bytes: Uint8Array<ArrayBuffer>): Promise<StoredBlob> {
  const place = await begin()
  const written = await store.writePart(place, part, bodyOf(bytes))
  await store.complete(place, [{ part_number: 1, ...written }])
  return { object: place.object, bytes: bytes.length }
}

test('a download may take longer than an answer', async () => {
  const bytes = noise(2 * MIB)
  const blob = await stored(bytes)
  way.drip(100_000, 20)
  const body = await store.read(blob, { from: 0, to: bytes.length - 1 })
  endLimits()
  expect(Buffer.compare(await new Response(body).bytes(), bytes)).toBe(0)
}, 240_000)

test('a small download has the time limit of an answer', async () => {
  const blob = await stored(noise(1000))
  way.silence()
  const reading = failureOf(store.read(blob, { from: 0, to: 999 }))
  expect(await endingLimits(reading)).toBeInstanceOf(BlobStoreError)
}, 240_000)

test('a part whose answer never comes fails after the time limit of an answer, not before', async () => {
  const place = await begin()
  way.silence()
  const limitsWhileSent: number[] = []
  async function* slow(): AsyncGenerator<Uint8Array> {
    for (let piece = 0; piece < 20; piece++) {
      await Bun.sleep(10)
      limitsWhileSent.push(limits.size)
      yield noise(1000)
    }
  }
  const writing = failureOf(store.writePart(place, part, { pieces: slow(), length: 20_000 }))
  const failure = await endingLimits(writing)
  // The store may have the part, although its answer did not come.
  expect(failure).toBeInstanceOf(PartLeftOver)
  expect(failure).toMatchObject({ cause: expect.any(BlobStoreError) })
  expect(limitsWhileSent).toEqual(Array(20).fill(0))
}, 240_000)

test('a part whose connection is cut is sent again', async () => {
  const place = await begin()
  const bytes = noise(2 * MIB)
  way.cutAfter(0, 2)
  const written = await store.writePart(place, part, bodyOf(bytes))
  expect(written.bytes).toBe(bytes.length)
  await store.complete(place, [{ part_number: 1, ...written }])
  const blob = { object: place.object, bytes: bytes.length }
  const body = await store.read(blob, { from: 0, to: bytes.length - 1 })
  expect(Buffer.compare(await new Response(body).bytes(), bytes)).toBe(0)
}, 240_000)

test('a write that is aborted ends at once, at any stage', async () => {
  for (const bytes of [1000, 8 * MIB]) {
    const place = await begin()
    way.silence()
    const ending = new AbortController()
    const body = bodyOf(noise(bytes), { ending: ending.signal })
    const writing = failureOf(store.writePart(place, part, body))
    await Bun.sleep(300)
    ending.abort()
    // No time limit ends, so nothing else ends the write.
    expect(reasonOf(await writing)).toBe('BODY_INCOMPLETE')
    way.mend()
  }
}, 240_000)

test('a part that is cut off at any moment is reported as cut off, and as nothing else', async () => {
  const place = await begin()
  way.silence()
  const bytes = noise(8 * MIB)
  const failures = new Set<unknown>()
  for (let n = 0; n < 60; n++) {
    const body = bodyOf(bytes, { ending: AbortSignal.timeout(1 + (n % 40)) })
    const failure = await failureOf(store.writePart(place, { number: 1, version: `v${n}` }, body))
    failures.add(reasonOf(failure))
  }
  expect([...failures]).toEqual(['BODY_INCOMPLETE'])
}, 240_000)

test('a download that is cut in the middle fails', async () => {
  const bytes = noise(2 * MIB)
  const blob = await stored(bytes)
  way.cutAfter(MIB)
  const body = await store.read(blob, { from: 0, to: bytes.length - 1 })
  expect(await failureOf(new Response(body).bytes())).toBeInstanceOf(Error)
}, 240_000)

test('a part of unknown length leaves nothing in memory or on disk', async () => {
  const place = await begin()
  const bytes = noise(3 * MIB)
  const names: string[][] = []
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < bytes.length; at += MIB) {
      yield bytes.slice(at, at + MIB)
      names.push(await readdir(spoolFolder))
    }
  }
  const written = await store.writePart(place, part, { pieces: pieces(), length: undefined })
  expect([written.bytes, names.flat()]).toEqual([3 * MIB, []])
  await store.complete(place, [{ part_number: 1, ...written }])
  const body = await store.read(
    { object: place.object, bytes: bytes.length },
    { from: 0, to: bytes.length - 1 },
  )
  expect(Buffer.compare(await new Response(body).bytes(), bytes)).toBe(0)
}, 240_000)

/** Waits for this, and lets the time limits end that run meanwhile. */
async function endingLimits<T>(work: Promise<T>): Promise<T> {
  let isOver = false
  const over = work.finally(() => {
    isOver = true
  })
  for (; !isOver; await Bun.sleep(10)) endLimits()
  return await over
}

/** Why a write failed: its code. The store may hold the part or not. */
function reasonOf(failure: unknown): unknown {
  const reason = failure instanceof PartLeftOver ? failure.cause : failure
  return reason instanceof Error && 'code' in reason ? reason.code : reason
}

function noise(length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length)
  for (let at = 0; at < length; at += 65_536) crypto.getRandomValues(bytes.subarray(at, at + 65_536))
  return bytes
}
