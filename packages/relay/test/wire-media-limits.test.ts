// What media may take: sizes, an account's room, uploads under way, and how long one request may last.
import { describe, expect, test } from 'bun:test'
import { expectProblem } from './expect.ts'
import { mediaPlaces } from './media-stores.ts'
import { answerOf, half, MediaAccount, noise } from './media-wire.ts'
import { useRelayWith } from './use-relay.ts'

const MIB = 1024 * 1024

const SETTINGS = {
  LIMIT_MEDIA_BYTES: `${8 * MIB}`,
  LIMIT_MEDIA_ACCOUNT_BYTES: `${10 * MIB}`,
  LIMIT_MEDIA_ACCOUNT_PARTS: '10',
  LIMIT_MEDIA_UPLOADS: '4',
}
/** Of a relay apart: whatever else is uploaded may take its time. */
const SHORT_TIMES = { LIMIT_MEDIA_PART_SECONDS: '2', LIMIT_MEDIA_LINK_SECONDS: '5' }

for (const place of mediaPlaces) {
  describe(`in ${place.name}`, () => {
    const relay = useRelayWith(async () => ({ ...(await place.environment()), ...SETTINGS }))
    const hasty = useRelayWith(async () => ({ ...(await place.environment()), ...SHORT_TIMES }))

    test('a blob holds no more than one may, however its parts come', async () => {
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

    test('an account that uploads more at once than it has room for gets just as much as there is', async () => {
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

    test('an account has so many parts and no more', async () => {
      const alice = await MediaAccount.make(relay.url)
      const upload = await alice.begin()
      for (let number = 1; number <= 10; number++) {
        expect((await alice.put(upload, number, noise(1))).status).toBe(200)
      }
      expectProblem(await alice.put(upload, 11, noise(1)), 403, 'STORAGE_FULL')
      await alice.abort(upload)
      expect((await alice.put(await alice.begin(), 1, noise(1))).status).toBe(200)
    })

    test('an account has so many uploads under way and no more, however it begins them', async () => {
      const alice = await MediaAccount.make(relay.url)
      const begin = (): Promise<{ status: number }> => alice.account.post('/media/upload-parts/init', {})
      const link = (): Promise<{ status: number }> => alice.account.post('/media/upload-url', { size: 1 })
      const answers = await Promise.all([begin(), link(), begin(), link(), begin(), link()])
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 200, 200, 200, 409, 409])
      expectProblem(await alice.account.post('/media/upload-url', {}), 409, 'TOO_MANY_UPLOADS')
    })

    test('whoever sends a byte now and then is ended, and keeps no room', async () => {
      const alice = await MediaAccount.make(hasty.url)
      const upload = await alice.begin()
      const socket = await half(alice, upload, 1)
      const trickle = setInterval(() => socket.write('x'), 100)
      const text = await answerOf(socket)
      clearInterval(trickle)
      expect(text).toContain('BODY_INCOMPLETE')
      expect(await alice.usedBytes()).toBe(0)
      expect((await alice.look(upload)).body.parts).toEqual([])
    })

    test('a link is good for its time and no longer', async () => {
      const alice = await MediaAccount.make(hasty.url)
      const { body } = await alice.account.post('/media/upload-url', {})
      const key = await alice.upload(noise(10))
      const read = (await alice.account.get(`/media/download-url?key=${key}`)).body
      expect((await fetch(read.download_url)).status).toBe(200)
      await Bun.sleep(6100) // Stores that sign to the second.
      expect((await fetch(body.upload_url, { method: 'PUT', body: noise(5) })).ok).toBe(false)
      expect((await fetch(read.download_url)).ok).toBe(false)
      expect((await alice.download(body.media_key)).status).toBe(404)
    })
  })
}
