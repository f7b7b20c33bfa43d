// Uploads in parts, seen from outside, in every place that can store blobs.
import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { connect } from 'node:net'
import { expectFields, expectInvalidField, expectProblem } from './expect.ts'
import { answerOf, bytesOf, MediaAccount, noise, PART_BYTES, sendHalfPart } from './media-wire.ts'
import { inEveryPlace } from './media-world.ts'

const KEY = /^m_[A-Za-z0-9_-]{22}$/

inEveryPlace((world) => {
  describe('an upload in parts', () => {
    test('can be begun, filled, listed and completed, and anyone with the key downloads the blob', async () => {
      const upload = await world.alice.begin()
      expectFields(upload, ['upload_id', 'media_key'])
      expect(upload.media_key).toMatch(KEY)
      const [first, second] = [noise(PART_BYTES), noise(1000)]
      const answer = await world.alice.put(upload, 1, first)
      expect([answer.status, Object.keys(answer.body)]).toEqual([200, ['etag']])
      const { etag } = (await world.alice.put(upload, 2, second)).body
      const parts = [
        { part_number: 1, etag: answer.body.etag },
        { part_number: 2, etag },
      ]
      const { body: seen } = await world.alice.listParts(upload)
      expect(seen).toEqual({
        media_key: upload.media_key,
        parts: [
          { part_number: 1, size: PART_BYTES, etag: parts[0]?.etag },
          { part_number: 2, size: 1000, etag },
        ],
      })
      const done = await world.alice.complete(upload, parts)
      expect([done.status, done.body]).toEqual([
        200,
        { media_key: upload.media_key, size: PART_BYTES + 1000 },
      ])
      const got = await world.bob.download(upload.media_key)
      expect(got.status).toBe(200)
      expect(Buffer.compare(await bytesOf(got), Buffer.concat([first, second]))).toBe(0)
    })

    test('answers the same when it is completed twice, at once or later', async () => {
      const upload = await world.alice.begin()
      const parts = await world.alice.putAll(upload, [noise(PART_BYTES), noise(7)])
      const answers = await Promise.all([
        world.alice.complete(upload, parts),
        world.alice.complete(upload, parts),
      ])
      answers.push(await world.alice.complete(upload, parts))
      for (const { status, body } of answers) {
        expect([status, body]).toEqual([200, { media_key: upload.media_key, size: PART_BYTES + 7 }])
      }
      expect((await world.bob.download(upload.media_key)).status).toBe(200)
    })

    test('keeps the last version of a part that is uploaded again, and counts its storage once', async () => {
      const before = await world.alice.usedBytes()
      const upload = await world.alice.begin()
      await world.alice.put(upload, 1, noise(5000))
      const again = noise(4000)
      const { etag } = (await world.alice.put(upload, 1, again)).body
      expect(await world.alice.usedBytes()).toBe(before + 4000)
      expect((await world.alice.complete(upload, [{ part_number: 1, etag }])).body.size).toBe(4000)
      expect(await bytesOf(await world.bob.download(upload.media_key))).toEqual(again)
    })

    test('accepts a part without an announced length', async () => {
      const upload = await world.alice.begin()
      const bytes = noise(300_000)
      const stream = new ReadableStream({
        start: (controller) => {
          for (let at = 0; at < bytes.length; at += 100_000) {
            controller.enqueue(bytes.subarray(at, at + 100_000))
          }
          controller.close()
        },
      })
      const { etag } = (await world.alice.put(upload, 1, stream)).body
      await world.alice.complete(upload, [{ part_number: 1, etag }])
      expect(await bytesOf(await world.bob.download(upload.media_key))).toEqual(bytes)
    })

    test('cannot be completed with parts that are missing, foreign, repeated, out of order or not numbered from 1', async () => {
      const upload = await world.alice.begin()
      const [one, two] = await world.alice.putAll(upload, [noise(PART_BYTES), noise(9)])
      if (!one || !two) throw new Error('expected two parts')
      const wrong = [
        [one],
        [two],
        [two, one],
        [one, one],
        [one, two, { part_number: 3, etag: two.etag }],
        [one, { part_number: 2, etag: one.etag }],
        [
          { part_number: 2, etag: one.etag },
          { part_number: 3, etag: two.etag },
        ],
      ]
      for (const parts of wrong)
        expectProblem(await world.alice.complete(upload, parts), 409, 'PARTS_MISMATCH')
      for (const parts of [[], [{ part_number: 0, etag: one.etag }], [{ part_number: 1 }]]) {
        expect((await world.alice.complete(upload, parts as never)).status).toBe(400)
      }
      expect((await world.bob.download(upload.media_key)).status).toBe(404)
      const gap = await world.alice.begin()
      const { etag } = (await world.alice.put(gap, 2, noise(5))).body
      expectProblem(await world.alice.complete(gap, [{ part_number: 2, etag }]), 409, 'PARTS_MISMATCH')
      expect((await world.alice.complete(upload, [one, two])).status).toBe(200)
    })

    test('accepts etags with the quotation marks of the HTTP header', async () => {
      const upload = await world.alice.begin()
      const { etag } = (await world.alice.put(upload, 1, noise(5))).body
      expect((await world.alice.complete(upload, [{ part_number: 1, etag: `"${etag}"` }])).status).toBe(200)
    })

    test('does not exist for any other account', async () => {
      const upload = await world.alice.begin()
      const { etag } = (await world.alice.put(upload, 1, noise(5))).body
      const parts = [{ part_number: 1, etag }]
      expectProblem(await world.bob.put(upload, 1, noise(5)), 404, 'NOT_FOUND')
      expectProblem(await world.bob.listParts(upload), 404, 'NOT_FOUND')
      expectProblem(await world.bob.complete(upload, parts), 404, 'NOT_FOUND')
      expectProblem(await world.bob.abort(upload), 404, 'NOT_FOUND')
      const other = await world.alice.begin()
      const mixed = { ...upload, media_key: other.media_key }
      expectProblem(await world.alice.put(mixed, 1, noise(5)), 404, 'NOT_FOUND')
      expectProblem(await world.alice.complete(mixed, parts), 404, 'NOT_FOUND')
      expect((await world.alice.complete(upload, parts)).status).toBe(200)
    })

    test('that is aborted frees its storage and cannot be continued', async () => {
      const before = await world.alice.usedBytes()
      const upload = await world.alice.begin()
      const { etag } = (await world.alice.put(upload, 1, noise(5000))).body
      expect((await world.alice.abort(upload)).status).toBe(200)
      expect(await world.alice.usedBytes()).toBe(before)
      expectProblem(await world.alice.put(upload, 1, noise(5)), 404, 'NOT_FOUND')
      expectProblem(await world.alice.complete(upload, [{ part_number: 1, etag }]), 404, 'NOT_FOUND')
      expectProblem(await world.alice.abort(upload), 404, 'NOT_FOUND')
    })

    test('accepts nothing more once it is complete', async () => {
      const upload = await world.alice.begin()
      const bytes = noise(500)
      const parts = await world.alice.putAll(upload, [bytes])
      await world.alice.complete(upload, parts)
      expectProblem(await world.alice.put(upload, 1, noise(5)), 404, 'NOT_FOUND')
      expectProblem(await world.alice.put(upload, 2, noise(5)), 404, 'NOT_FOUND')
      expectProblem(await world.alice.listParts(upload), 404, 'NOT_FOUND')
      expectProblem(await world.alice.abort(upload), 404, 'NOT_FOUND')
      expect(await bytesOf(await world.bob.download(upload.media_key))).toEqual(bytes)
    })

    test.each(['0', '-1', '10001', '1.5', '01', 'x', '', '1e2', '99999999999999999999'])(
      'refuses the part number %p',
      async (number) => {
        expectInvalidField(await world.alice.put(await world.alice.begin(), number, noise(5)), 'partNumber')
      },
    )

    test('accepts part number 10,000 and refuses an empty or too large part', async () => {
      const upload = await world.alice.begin()
      expect((await world.alice.put(upload, 10_000, noise(5))).status).toBe(200)
      expectInvalidField(await world.alice.put(upload, 1, new Uint8Array()), 'body')
      expectProblem(await world.alice.put(upload, 1, noise(PART_BYTES + 1)), 413, 'PAYLOAD_TOO_LARGE')
      const endless = new ReadableStream({ pull: (controller) => controller.enqueue(noise(1_000_000)) })
      expectProblem(await world.alice.put(upload, 1, endless), 413, 'PAYLOAD_TOO_LARGE')
      expect((await world.alice.listParts(upload)).body.parts).toHaveLength(1)
      await world.alice.abort(upload)
    })

    test('lists no part whose connection was cut', async () => {
      const before = await world.alice.usedBytes()
      const upload = await world.alice.begin()
      const { etag } = (await world.alice.put(upload, 1, noise(100))).body
      await cutPart(world.alice, upload, 1)
      await cutPart(world.alice, upload, 2)
      await settled(async () => (await world.alice.usedBytes()) === before + 100)
      expect((await world.alice.listParts(upload)).body.parts).toEqual([{ part_number: 1, size: 100, etag }])
      expect((await world.alice.complete(upload, [{ part_number: 1, etag }])).status).toBe(200)
    })

    test('accepts a part again while the lost connection’s request for it is still open', async () => {
      const alice = await MediaAccount.make(world.relay.url)
      const upload = await alice.begin()
      const socket = await sendHalfPart(alice, upload, 1)
      // The relay has accepted the first request once it has reserved room for it.
      await settled(async () => (await alice.usedBytes()) > 0)
      const [text, again] = await Promise.all([answerOf(socket), alice.put(upload, 1, noise(500))])
      expect(text).toContain('BODY_INCOMPLETE')
      expect(again.status).toBe(200)
      expect((await alice.listParts(upload)).body.parts).toEqual([
        { part_number: 1, size: 500, etag: again.body.etag },
      ])
      expect(await alice.usedBytes()).toBe(500)
    })

    test('that is aborted or completed while a part is being sent leaves that part out', async () => {
      for (const end of ['abort', 'complete'] as const) {
        const upload = await world.alice.begin()
        const parts = await world.alice.putAll(upload, [noise(100)])
        const slow = slowBody()
        const late = world.alice.put(upload, end === 'abort' ? 2 : 1, slow.body)
        await slow.taken
        const ended = await (end === 'abort'
          ? world.alice.abort(upload)
          : world.alice.complete(upload, parts))
        expect(ended.status).toBe(200)
        slow.finish()
        expectProblem(await late, 404, 'NOT_FOUND')
        const got = await world.bob.download(upload.media_key)
        expect(got.status).toBe(end === 'abort' ? 404 : 200)
        if (end === 'complete') expect((await bytesOf(got)).length).toBe(100)
      }
    })

    test('that is completed while a part is uploaded again and again becomes exactly one of the versions', async () => {
      const upload = await world.alice.begin()
      const versions = Array.from({ length: 6 }, () => noise(20_000))
      const puts = versions.map((bytes) => world.alice.put(upload, 1, bytes))
      let isUploaded = false
      const uploaded = Promise.all(puts).then(() => {
        isUploaded = true
      })
      let size = 0
      for (const late = performance.now() + 90_000; size === 0 && performance.now() < late; ) {
        const { body } = await world.alice.listParts(upload)
        const [part] = body.parts
        // A store that already has the next version no longer has the previous one. Then the relay cannot be
        // sure of the part and drops it, so the test uploads it again.
        if (!part && isUploaded) await world.alice.put(upload, 1, versions[0] ?? noise(1))
        if (!part) continue
        const done = await world.alice.complete(upload, [{ part_number: 1, etag: part.etag }])
        if (done.status === 200) size = done.body.size
        else expectProblem(done, 409, 'PARTS_MISMATCH')
      }
      await uploaded
      expect(size).toBe(20_000)
      const got = createHash('sha256')
        .update(await bytesOf(await world.bob.download(upload.media_key)))
        .digest('hex')
      const sent = versions.map((bytes) => createHash('sha256').update(bytes).digest('hex'))
      expect(sent).toContain(got)
    })

    test('may have parts of any size, or is refused with the name of the field if the store allows no small parts', async () => {
      const parts = [noise(1), noise(70_000), noise(3)]
      if (world.place.requiresLargeParts) {
        const upload = await world.alice.begin()
        expectInvalidField(
          await world.alice.complete(upload, await world.alice.putAll(upload, parts)),
          'parts',
        )
        await world.alice.abort(upload)
      } else {
        const key = await world.alice.upload(...parts)
        expect(Buffer.compare(await bytesOf(await world.bob.download(key)), Buffer.concat(parts))).toBe(0)
      }
    })
  })
})

/** Sends half of a part and cuts the connection. */
async function cutPart(
  { account }: MediaAccount,
  upload: { upload_id: string; media_key: string },
  number: number,
): Promise<void> {
  const { port } = new URL(account.base)
  const socket = connect(Number(port), '127.0.0.1')
  await new Promise((resolve) => socket.once('connect', resolve))
  const path = `/api/v1/media/upload-parts/${upload.upload_id}/chunk?mediaKey=${upload.media_key}&partNumber=${number}`
  socket.write(
    `POST ${path} HTTP/1.1\r\nhost: relay\r\nauthorization: Bearer ${account.token}\r\ncontent-length: 2000\r\n\r\n`,
  )
  socket.write(noise(1000))
  await Bun.sleep(100)
  socket.destroy()
}

/**
 * A body that sends its first half at once and the rest when `finish` is called. `taken` resolves between the
 * two.
 */
function slowBody(): { body: ReadableStream<Uint8Array>; taken: Promise<void>; finish(): void } {
  const half = Promise.withResolvers<void>()
  const end = Promise.withResolvers<void>()
  let pulls = 0
  const body = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      pulls += 1
      if (pulls === 1) controller.enqueue(noise(70_000))
      else {
        await Bun.sleep(150)
        half.resolve()
        await end.promise
        controller.enqueue(noise(100))
        controller.close()
      }
    },
  })
  return { body, taken: half.promise, finish: () => end.resolve() }
}

async function settled(condition: () => Promise<boolean>): Promise<void> {
  for (let triesLeft = 900; !(await condition()); triesLeft--) {
    if (triesLeft === 0) throw new Error('the condition was not met in 45 s')
    await Bun.sleep(50)
  }
}
