// The limits of media: sizes, an account's storage, open uploads, and the time of one request.
import { describe, expect, test } from 'bun:test'
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expectProblem } from './expect.ts'
import { mediaPlaces } from './media-stores.ts'
import { answerOf, bytesOf, MediaAccount, noise, sendHalfPart } from './media-wire.ts'
import { startRelay } from './relay-process.ts'
import { useRelayWith } from './use-relay.ts'
import { call } from './wire.ts'

const MIB = 1024 * 1024

const SETTINGS = {
  LIMIT_MEDIA_BYTES: `${8 * MIB}`,
  LIMIT_MEDIA_ACCOUNT_BYTES: `${10 * MIB}`,
  LIMIT_MEDIA_ACCOUNT_PARTS: '10',
  LIMIT_MEDIA_UPLOADS: '4',
  RATE_LIMITS: 'on',
  RATE_DOWNLOAD_BYTES: '1000000/10000',
}
/** For a relay that reads uploads slowly and has room for a link without a size. */
const SLOW = {
  LIMIT_MEDIA_BYTES: `${8 * MIB}`,
  LIMIT_MEDIA_WRITES_AT_ONCE: '2',
  RATE_LIMITS: 'on',
  RATE_UPLOAD_BYTES: `${1.5 * MIB}/36000`,
}
/** For another relay, because the other uploads may take longer. */
const SHORT_TIMES = { LIMIT_MEDIA_PART_SECONDS: '5', LIMIT_MEDIA_LINK_SECONDS: '5' }
/** How long such a link is valid; stores sign to the second. */
const LINK_MS = 5000
const PAST_LINK_MS = LINK_MS + 1100

for (const place of mediaPlaces) {
  describe(`in ${place.name}`, () => {
    const relay = useRelayWith(async () => ({ ...(await place.environment()), ...SETTINGS }))
    const slow = useRelayWith(async () => ({ ...(await place.environment()), ...SLOW }))
    const hasty = useRelayWith(async () => ({ ...(await place.environment()), ...SHORT_TIMES }))

    test('a blob never gets larger than the limit, whether its parts announce their length or not', async () => {
      const alice = await MediaAccount.make(relay.url)
      const upload = await alice.begin()
      expect((await alice.put(upload, 1, noise(5 * MIB))).status).toBe(200)
      expectProblem(await alice.put(upload, 2, noise(3 * MIB + 1)), 413, 'PAYLOAD_TOO_LARGE')
      const unannounced = new ReadableStream({
        pull: async (controller) => {
          await Bun.sleep(5)
          controller.enqueue(noise(MIB))
        },
      })
      expectProblem(await alice.put(upload, 2, unannounced), 413, 'PAYLOAD_TOO_LARGE')
      expect((await alice.put(upload, 2, noise(3 * MIB))).status).toBe(200)
      expect((await alice.put(upload, 2, noise(3 * MIB))).status).toBe(200)
      expectProblem(await alice.put(upload, 3, noise(1)), 413, 'PAYLOAD_TOO_LARGE')
      const large = await alice.account.post('/media/upload-url', { size: 8 * MIB + 1 })
      expectProblem(large, 413, 'PAYLOAD_TOO_LARGE')
      expect(await alice.usedBytes()).toBe(8 * MIB)
    })

    test('an account that uploads more at once than its storage holds fills it exactly', async () => {
      const alice = await MediaAccount.make(relay.url)
      const uploads = await Promise.all([alice.begin(), alice.begin(), alice.begin()])
      const answers = await Promise.all(
        uploads.flatMap((upload) => [
          alice.put(upload, 1, noise(2 * MIB)),
          alice.put(upload, 2, noise(2 * MIB)),
        ]),
      )
      const statuses = answers.map(({ status }) => status).toSorted()
      expect(statuses).toEqual([200, 200, 200, 200, 200, 403])
      for (const answer of answers) {
        if (answer.status === 403) expectProblem(answer, 403, 'STORAGE_FULL')
      }
      expect(await alice.usedBytes()).toBe(10 * MIB)
      expectProblem(await alice.account.post('/media/upload-url', { size: 1 }), 403, 'STORAGE_FULL')
      const [first] = uploads
      if (first) await alice.abort(first)
      const other = await alice.begin()
      expect((await alice.put(other, 1, noise(MIB))).status).toBe(200)
    })

    test('an account has a limited number of parts', async () => {
      const alice = await MediaAccount.make(relay.url)
      const upload = await alice.begin()
      for (let number = 1; number <= 10; number++) {
        expect((await alice.put(upload, number, noise(1))).status).toBe(200)
      }
      expectProblem(await alice.put(upload, 11, noise(1)), 403, 'STORAGE_FULL')
      await alice.abort(upload)
      expect((await alice.put(await alice.begin(), 1, noise(1))).status).toBe(200)
    })

    test('an account downloads a limited number of bytes, and each range counts what it sends', async () => {
      const alice = await MediaAccount.make(relay.url)
      const key = await alice.upload(noise(600_000))
      const [bob, carol] = [await MediaAccount.make(relay.url), await MediaAccount.make(relay.url)]
      const etag = (await bob.download(key, {}, 'HEAD')).headers.get('etag') ?? ''
      expect((await bytesOf(await bob.download(key))).length).toBe(600_000)
      expect((await bob.download(key, { 'if-none-match': etag })).status).toBe(304)
      await expectTooManyBytes(await bob.download(key))
      const range = { range: 'bytes=100000-399999' }
      expect((await bytesOf(await bob.download(key, range))).length).toBe(300_000)
      await expectTooManyBytes(await bob.download(key, range))
      expect((await bob.download(key, {}, 'HEAD')).status).toBe(200)
      expect((await bytesOf(await carol.download(key))).length).toBe(600_000)
    })

    test('a link counts for the account that requested it, and one that leads to the store counts at once', async () => {
      const alice = await MediaAccount.make(relay.url)
      const key = await alice.upload(noise(600_000))
      const [bob, carol] = [await MediaAccount.make(relay.url), await MediaAccount.make(relay.url)]
      const link = await bob.account.get(`/media/download-url?key=${key}`)
      expect((await bytesOf(await fetch(link.body.download_url))).length).toBe(600_000)
      await expectTooManyBytes(await bob.download(key))
      const other = await bob.account.get(`/media/download-url?key=${key}`)
      if (place.requiresLargeParts) {
        expect([other.status, other.body.limit]).toEqual([429, 'downloadBytes'])
        // The store does not count how often a link is used.
        expect((await bytesOf(await fetch(link.body.download_url))).length).toBe(600_000)
      } else {
        await expectTooManyBytes(await fetch(other.body.download_url))
        await expectTooManyBytes(await fetch(link.body.download_url))
      }
      expect((await bytesOf(await carol.download(key))).length).toBe(600_000)
    })

    test('a blob that is larger than what may be downloaded at once can be downloaded, but not twice', async () => {
      const alice = await MediaAccount.make(relay.url)
      const key = await alice.upload(noise(1_500_000))
      expect((await bytesOf(await alice.download(key))).length).toBe(1_500_000)
      const refused = await alice.download(key, { range: 'bytes=0-0' })
      await expectTooManyBytes(refused)
      // What was sent beyond the limit has to be made up for.
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(1000)
    })

    test('bytes of an account that exceed its rate are read later, and those of others at once', async () => {
      const [alice, bob] = [await MediaAccount.make(slow.url), await MediaAccount.make(slow.url)]
      const upload = await alice.begin()
      const late = alice.put(upload, 1, noise(2 * MIB))
      let isAnswered = false
      void late.finally(() => {
        isAnswered = true
      })
      expect((await bob.put(await bob.begin(), 1, noise(MIB))).status).toBe(200)
      expect(isAnswered).toBe(false)
      await alice.abort(upload) // Ends the write, although its bytes still wait.
      expect((await late).status).toBe(404)
    })

    test('an account has a limited number of writes at once; others have theirs', async () => {
      const [alice, bob] = [await MediaAccount.make(slow.url), await MediaAccount.make(slow.url)]
      const [upload, link] = [await alice.begin(), await alice.account.post('/media/upload-url', {})]
      const sockets = [await sendHalfPart(alice, upload, 1), await sendHalfPart(alice, upload, 2)]
      await untilUsed(alice, 4_000_000 + 8 * MIB)
      for (const refused of [
        await alice.put(upload, 3, noise(1)),
        await call(link.body.upload_url, { method: 'PUT', body: noise(1) }),
      ]) {
        expectProblem(refused, 429, 'RATE_LIMITED', { limit: 'mediaWritesAtOnce' })
        expect(refused.headers.get('retry-after')).toBe('1')
      }
      expect((await bob.put(await bob.begin(), 1, noise(1))).status).toBe(200)
      for (const socket of sockets) socket.destroy()
      await untilUsed(alice, 8 * MIB)
      expect((await alice.put(upload, 3, noise(1))).status).toBe(200)
    })

    test('an account has a limited number of open uploads, in parts and by link together', async () => {
      const alice = await MediaAccount.make(relay.url)
      const begin = (): Promise<{ status: number }> => alice.account.post('/media/upload-parts/init', {})
      const link = (): Promise<{ status: number }> => alice.account.post('/media/upload-url', { size: 1 })
      const answers = await Promise.all([begin(), link(), begin(), link(), begin(), link()])
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 200, 200, 200, 409, 409])
      expectProblem(await alice.account.post('/media/upload-url', {}), 409, 'TOO_MANY_UPLOADS')
    })

    test('a link without a size leads to the relay, which ends an upload at the largest size of a blob', async () => {
      const [alice, bob] = [await MediaAccount.make(relay.url), await MediaAccount.make(relay.url)]
      const { body } = await alice.account.post('/media/upload-url', {})
      expect(body.upload_url).toStartWith(relay.url)
      const tooMuch = new ReadableStream({
        pull: (controller) => controller.enqueue(noise(MIB)),
      })
      const answer = await fetch(body.upload_url, { method: 'PUT', body: tooMuch }).catch(() => undefined)
      expect(answer?.ok ?? false).toBe(false)
      expect((await bob.download(body.media_key)).status).toBe(404)
      const bytes = noise(70_000)
      expect((await fetch(body.upload_url, { method: 'PUT', body: bytes })).status).toBe(200)
      expect((await fetch(body.upload_url, { method: 'PUT', body: bytes })).status).toBe(409)
      expect(await bytesOf(await bob.download(body.media_key))).toEqual(bytes)
    })

    test('a client that sends a part byte by byte is disconnected, and the part uses no storage', async () => {
      const alice = await MediaAccount.make(hasty.url)
      const upload = await alice.begin()
      const socket = await sendHalfPart(alice, upload, 1)
      const trickle = setInterval(() => socket.write('x'), 100)
      const text = await answerOf(socket)
      clearInterval(trickle)
      expect(text).toContain('BODY_INCOMPLETE')
      expect(await alice.usedBytes()).toBe(0)
      expect((await alice.listParts(upload)).body.parts).toEqual([])
    })

    test('a link works until it expires', async () => {
      const alice = await MediaAccount.make(hasty.url)
      const { body } = await alice.account.post('/media/upload-url', {})
      const key = await alice.upload(noise(10))
      let link = ''
      for (let isInTime = false; !isInTime; ) {
        const askedAt = performance.now()
        link = (await alice.account.get(`/media/download-url?key=${key}`)).body.download_url
        const { status } = await fetch(link)
        // A slow machine may need as long as the link is valid.
        isInTime = performance.now() - askedAt < LINK_MS - 1000
        if (isInTime) expect(status).toBe(200)
      }
      // Swift checks its links by the machine's clock.
      await (place.requiresLargeParts ? Bun.sleep(PAST_LINK_MS) : hasty.process.letPass(PAST_LINK_MS))
      expect((await fetch(body.upload_url, { method: 'PUT', body: noise(5) })).ok).toBe(false)
      expect((await fetch(link)).ok).toBe(false)
      expect((await alice.download(body.media_key)).status).toBe(404)
    })
  })
}

test('a download that the store fails to serve counts for nothing', async () => {
  const relay = await startRelay({ env: SETTINGS })
  try {
    const alice = await MediaAccount.make(relay.url)
    const [lost, kept] = [await alice.upload(noise(600_000)), await alice.upload(noise(600_001))]
    const media = join(relay.dataDir, 'media')
    for (const name of await readdir(media, { recursive: true }))
      if ((await stat(join(media, name))).size === 600_000) await rm(join(media, name))
    for (let times = 0; times < 5; times++)
      expectProblem(await alice.account.get(`/media/download?key=${lost}`), 503, 'MEDIA_UNAVAILABLE')
    expect((await bytesOf(await alice.download(kept))).length).toBe(600_001)
    await expectTooManyBytes(await alice.download(kept))
  } finally {
    await relay.stop()
  }
})

async function expectTooManyBytes(response: Response): Promise<void> {
  expect(response.status).toBe(429)
  expect(await response.json()).toMatchObject({ error: 'RATE_LIMITED', limit: 'downloadBytes' })
  const seconds = Number(response.headers.get('retry-after'))
  expect(seconds).toBeGreaterThan(0)
  expect(seconds).toBeLessThanOrEqual(10_000)
}

/** Waits until exactly so many bytes count for an account. */
async function untilUsed(account: MediaAccount, bytes: number): Promise<void> {
  while ((await account.usedBytes()) !== bytes) await Bun.sleep(20)
}
