// The limits of media: sizes, an account's storage, open uploads, and the time of one request.
import { describe, expect, test } from 'bun:test'
import { expectProblem } from './expect.ts'
import { mediaPlaces } from './media-stores.ts'
import { answerOf, MediaAccount, noise, sendHalfPart } from './media-wire.ts'
import { useRelayWith } from './use-relay.ts'

const MIB = 1024 * 1024

const SETTINGS = {
  LIMIT_MEDIA_BYTES: `${8 * MIB}`,
  LIMIT_MEDIA_ACCOUNT_BYTES: `${10 * MIB}`,
  LIMIT_MEDIA_ACCOUNT_PARTS: '10',
  LIMIT_MEDIA_UPLOADS: '4',
}
/** For a second relay, because the other uploads may take longer. */
const SHORT_TIMES = { LIMIT_MEDIA_PART_SECONDS: '2', LIMIT_MEDIA_LINK_SECONDS: '5' }
/** Longer than a link is valid; stores sign to the second. */
const PAST_LINK_MS = 6100

for (const place of mediaPlaces) {
  describe(`in ${place.name}`, () => {
    const relay = useRelayWith(async () => ({ ...(await place.environment()), ...SETTINGS }))
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

    test('an account has a limited number of open uploads, in parts and by link together', async () => {
      const alice = await MediaAccount.make(relay.url)
      const begin = (): Promise<{ status: number }> => alice.account.post('/media/upload-parts/init', {})
      const link = (): Promise<{ status: number }> => alice.account.post('/media/upload-url', { size: 1 })
      const answers = await Promise.all([begin(), link(), begin(), link(), begin(), link()])
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 200, 200, 200, 409, 409])
      expectProblem(await alice.account.post('/media/upload-url', {}), 409, 'TOO_MANY_UPLOADS')
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
      const read = (await alice.account.get(`/media/download-url?key=${key}`)).body
      expect((await fetch(read.download_url)).status).toBe(200)
      // Swift checks its links by the machine's clock.
      await (place.requiresLargeParts ? Bun.sleep(PAST_LINK_MS) : hasty.process.letPass(PAST_LINK_MS))
      expect((await fetch(body.upload_url, { method: 'PUT', body: noise(5) })).ok).toBe(false)
      expect((await fetch(read.download_url)).ok).toBe(false)
      expect((await alice.download(body.media_key)).status).toBe(404)
    })
  })
}
