// Media when something fails: a relay killed at any moment of an upload, a full disk, an unreachable store.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expectProblem } from './expect.ts'
import { mediaPlaces, swiftEnvironment } from './media-stores.ts'
import { bytesOf, MediaAccount, noise, PART_BYTES, type WirePart } from './media-wire.ts'
import { eventually } from './payment-watch.ts'
import { type RelayProcess, startRelay } from './relay-process.ts'

const MIB = 1024 * 1024

for (const place of mediaPlaces) {
  describe(`a relay with its blobs in ${place.name}`, () => {
    let relay: RelayProcess
    beforeAll(async () => {
      relay = await startRelay({ env: await place.environment() })
    }, 240_000)
    afterAll(() => relay.stop(), 60_000)

    async function restart(): Promise<void> {
      await relay.kill('SIGKILL')
      await relay.start()
    }

    test('killed while a part arrives still has the parts it had acknowledged', async () => {
      const alice = await MediaAccount.make(relay.url)
      const upload = await alice.begin()
      const first = noise(PART_BYTES)
      const [one] = await alice.putAll(upload, [first])
      const endless = new ReadableStream({
        pull: async (controller) => {
          await Bun.sleep(20)
          controller.enqueue(noise(20_000))
        },
      })
      const broken = alice.put(upload, 2, endless).catch(() => undefined)
      await Bun.sleep(200)
      await restart()
      await broken
      const { body } = await alice.listParts(upload)
      expect(body.parts).toEqual([{ part_number: 1, size: PART_BYTES, etag: one?.etag }])
      const last = noise(500)
      const { etag } = (await alice.put(upload, 2, last)).body
      const parts = [...(one ? [one] : []), { part_number: 2, etag }]
      expect((await alice.complete(upload, parts)).body.size).toBe(PART_BYTES + 500)
      const got = await bytesOf(await alice.download(upload.media_key))
      expect(Buffer.compare(got, Buffer.concat([first, last]))).toBe(0)
    }, 240_000)

    test('killed while it completes an upload has either the whole blob or the upload unchanged', async () => {
      const alice = await MediaAccount.make(relay.url)
      const blobs: { key: string; bytes: Uint8Array }[] = []
      // In a folder, completing renames the file if the parts arrived in order, so their size does not
      // matter.
      const partBytes = place.requiresLargeParts ? PART_BYTES : MIB
      for (let round = 0; round < 6; round++) {
        const upload = await alice.begin()
        const sent = [noise(partBytes), noise(partBytes), noise(500)]
        const parts: WirePart[] = []
        // Every other upload sends its parts in the wrong order, so that a folder has to copy them.
        const order = round % 2 === 0 ? [1, 2, 3] : [3, 2, 1]
        for (const part_number of order) {
          const { etag } = (await alice.put(upload, part_number, sent[part_number - 1] ?? noise(1))).body
          parts[part_number - 1] = { part_number, etag }
        }
        const completing = alice.complete(upload, parts).catch(() => undefined)
        await Bun.sleep(round * 12)
        await restart()
        const answer = await completing
        const whole = await alice.download(upload.media_key)
        if (answer?.status === 200) expect(whole.status).toBe(200)
        expect([200, 404]).toContain(whole.status)
        await whole.body?.cancel()
        // A repeated request gets the same answer, no matter what the first one had done.
        const again = await alice.complete(upload, parts)
        expect([again.status, again.body]).toEqual([
          200,
          { media_key: upload.media_key, size: 2 * partBytes + 500 },
        ])
        blobs.push({ key: upload.media_key, bytes: Buffer.concat(sent) })
      }
      for (const { key, bytes } of blobs) {
        expect(Buffer.compare(await bytesOf(await alice.download(key)), bytes)).toBe(0)
      }
    }, 240_000)

    test('killed during an upload to a link accepts the blob at the same link again', async () => {
      const alice = await MediaAccount.make(relay.url)
      const { body } = await alice.account.post('/media/upload-url', { size: 300_000 })
      const slow = new ReadableStream({
        pull: async (controller) => {
          await Bun.sleep(20)
          controller.enqueue(noise(5000))
        },
      })
      const broken = fetch(body.upload_url, { method: 'PUT', body: slow }).catch(() => undefined)
      await Bun.sleep(150)
      await restart()
      // In an object store the link leads to the store itself, which was not killed: nothing was interrupted.
      if (place.requiresLargeParts) return
      await broken
      const bytes = noise(300_000)
      expect((await fetch(body.upload_url, { method: 'PUT', body: bytes })).status).toBe(200)
      expect(await bytesOf(await alice.download(body.media_key))).toEqual(bytes)
    }, 240_000)
  })
}

test('on a full disk a part and a completion answer MEDIA_UNAVAILABLE and leave no files; with free space both work again', async () => {
  const relay = await startRelay()
  try {
    const alice = await MediaAccount.make(relay.url)
    const upload = await alice.begin()
    const sent = [noise(1.5 * MIB), noise(1.5 * MIB)]
    // Part 2 arrives first, so that completing has to copy the parts.
    const [first = noise(1), second = noise(1)] = sent
    const two = { part_number: 2, etag: (await alice.put(upload, 2, second)).body.etag }
    const parts = [{ part_number: 1, etag: (await alice.put(upload, 1, first)).body.etag }, two]
    await limitFiles(relay.pid, 2 * MIB)
    expectProblem(await alice.put(upload, 3, noise(3 * MIB)), 503, 'MEDIA_UNAVAILABLE')
    expect((await alice.listParts(upload)).body.parts).toHaveLength(2)
    expectProblem(await alice.complete(upload, parts), 503, 'MEDIA_UNAVAILABLE')
    expect((await alice.download(upload.media_key)).status).toBe(404)
    expect(await alice.usedBytes()).toBe(3 * MIB)
    expect(
      (await filesOf(join(relay.dataDir, 'media'))).filter((name) => !/\/(?:2\.|run_)/.test(name)),
    ).toEqual([])
    const { body: link } = await alice.account.post('/media/upload-url', {})
    const put = await fetch(link.upload_url, { method: 'PUT', body: noise(3 * MIB) })
    expect(put.status).toBe(503)
    await eventually(() => expect(relay.errors()).toContain('media_failed'))

    await limitFiles(relay.pid, 'unlimited')
    expect((await alice.complete(upload, parts)).body.size).toBe(3 * MIB)
    const got = await bytesOf(await alice.download(upload.media_key))
    expect(Buffer.compare(got, Buffer.concat(sent))).toBe(0)
    expect((await fetch(link.upload_url, { method: 'PUT', body: noise(3 * MIB) })).status).toBe(200)
  } finally {
    await relay.stop()
  }
}, 240_000)

test('an unreachable store answers MEDIA_UNAVAILABLE and is logged, and everything else works', async () => {
  const away = {
    ...(await swiftEnvironment()),
    LIMIT_MEDIA_UPLOADS: '2',
    MEDIA_S3_ENDPOINT: 'http://127.0.0.1:9',
  }
  const relay = await startRelay({ env: away })
  try {
    const alice = await MediaAccount.make(relay.url)
    for (let tries = 0; tries < 4; tries++) {
      expectProblem(await alice.account.post('/media/upload-parts/init', {}), 503, 'MEDIA_UNAVAILABLE')
    }
    expect((await alice.account.get('/friends')).status).toBe(200)
    expect(await alice.usedBytes()).toBe(0)
    await eventually(() => expect(relay.errors()).toContain('media_failed'))
  } finally {
    await relay.stop()
  }
}, 240_000)

test('a store that refuses the relay’s key is logged without the key', async () => {
  const wrong = { ...(await swiftEnvironment()), MEDIA_S3_SECRET_KEY: 'not-the-secret-at-all' }
  const relay = await startRelay({ env: wrong })
  try {
    const alice = await MediaAccount.make(relay.url)
    expectProblem(await alice.account.post('/media/upload-parts/init', {}), 503, 'MEDIA_UNAVAILABLE')
    await eventually(() => expect(relay.errors()).toContain('media_failed'))
    expect(relay.errors()).not.toContain('not-the-secret')
    expect(relay.errors()).not.toContain('Signature=')
  } finally {
    await relay.stop()
  }
}, 240_000)

// A file at its size limit fails like a file on a full disk: at the write. The database's files stay smaller
// than the limit.
async function limitFiles(pid: number, bytes: number | 'unlimited'): Promise<void> {
  await Bun.$`prlimit --pid ${pid} --fsize=${bytes}:unlimited`.quiet()
}

async function filesOf(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
}
