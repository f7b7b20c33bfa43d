// Uploads and downloads over the wire, wherever blobs are kept.
import { beforeAll, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { connect } from 'node:net'
import { expectFields, expectInvalidField, expectProblem } from './expect.ts'
import { mediaPlaces } from './media-stores.ts'
import { bytesOf, MediaAccount, noise, PART_BYTES } from './media-wire.ts'
import { useRelayWith } from './use-relay.ts'
import { call } from './wire.ts'

const KEY = /^m_[A-Za-z0-9_-]{22}$/

for (const place of mediaPlaces) {
  describe(`in ${place.name}`, () => {
    const relay = useRelayWith(() => place.environment())
    let alice: MediaAccount
    let bob: MediaAccount

    beforeAll(async () => {
      alice = await MediaAccount.make(relay.url)
      bob = await MediaAccount.make(relay.url)
    })

    describe('an upload in parts', () => {
      test('is begun, filled, looked at and completed, and whoever has the key downloads it', async () => {
        const upload = await alice.begin()
        expectFields(upload, ['upload_id', 'media_key'])
        expect(upload.media_key).toMatch(KEY)
        const [first, second] = [noise(PART_BYTES), noise(1000)]
        const answer = await alice.put(upload, 1, first)
        expect([answer.status, Object.keys(answer.body)]).toEqual([200, ['etag']])
        const { etag } = (await alice.put(upload, 2, second)).body
        const parts = [
          { part_number: 1, etag: answer.body.etag },
          { part_number: 2, etag },
        ]
        const { body: seen } = await alice.look(upload)
        expect(seen).toEqual({
          media_key: upload.media_key,
          parts: [
            { part_number: 1, size: PART_BYTES, etag: parts[0]?.etag },
            { part_number: 2, size: 1000, etag },
          ],
        })
        const done = await alice.complete(upload, parts)
        expect([done.status, done.body]).toEqual([
          200,
          { media_key: upload.media_key, size: PART_BYTES + 1000 },
        ])
        const got = await bob.download(upload.media_key)
        expect(got.status).toBe(200)
        expect(Buffer.compare(await bytesOf(got), Buffer.concat([first, second]))).toBe(0)
      })

      test('answers the same when it is completed twice, at once or later', async () => {
        const upload = await alice.begin()
        const parts = await alice.putAll(upload, [noise(PART_BYTES), noise(7)])
        const answers = await Promise.all([alice.complete(upload, parts), alice.complete(upload, parts)])
        answers.push(await alice.complete(upload, parts))
        for (const { status, body } of answers) {
          expect([status, body]).toEqual([200, { media_key: upload.media_key, size: PART_BYTES + 7 }])
        }
        expect((await bob.download(upload.media_key)).status).toBe(200)
      })

      test('has the last of a part that is uploaded again, and takes its room once', async () => {
        const before = await alice.usedBytes()
        const upload = await alice.begin()
        await alice.put(upload, 1, noise(5000))
        const again = noise(4000)
        const { etag } = (await alice.put(upload, 1, again)).body
        expect(await alice.usedBytes()).toBe(before + 4000)
        expect((await alice.complete(upload, [{ part_number: 1, etag }])).body.size).toBe(4000)
        expect(await bytesOf(await bob.download(upload.media_key))).toEqual(again)
      })

      test('takes a part whose length is not announced', async () => {
        const upload = await alice.begin()
        const bytes = noise(300_000)
        const stream = new ReadableStream({
          start: (controller) => {
            for (let at = 0; at < bytes.length; at += 100_000) {
              controller.enqueue(bytes.subarray(at, at + 100_000))
            }
            controller.close()
          },
        })
        const { etag } = (await alice.put(upload, 1, stream)).body
        await alice.complete(upload, [{ part_number: 1, etag }])
        expect(await bytesOf(await bob.download(upload.media_key))).toEqual(bytes)
      })

      test('is not completed with parts that are missing, foreign, doubled, out of order or not from 1 on', async () => {
        const upload = await alice.begin()
        const [one, two] = await alice.putAll(upload, [noise(PART_BYTES), noise(9)])
        if (!one || !two) throw new Error('two parts were uploaded')
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
        for (const parts of wrong) expectProblem(await alice.complete(upload, parts), 409, 'PARTS_MISMATCH')
        for (const parts of [[], [{ part_number: 0, etag: one.etag }], [{ part_number: 1 }]]) {
          expect((await alice.complete(upload, parts as never)).status).toBe(400)
        }
        expect((await bob.download(upload.media_key)).status).toBe(404)
        const gap = await alice.begin()
        const { etag } = (await alice.put(gap, 2, noise(5))).body
        expectProblem(await alice.complete(gap, [{ part_number: 2, etag }]), 409, 'PARTS_MISMATCH')
        expect((await alice.complete(upload, [one, two])).status).toBe(200)
      })

      test('takes etags with the quotation marks HTTP puts around them', async () => {
        const upload = await alice.begin()
        const { etag } = (await alice.put(upload, 1, noise(5))).body
        expect((await alice.complete(upload, [{ part_number: 1, etag: `"${etag}"` }])).status).toBe(200)
      })

      test('is nobody’s but its owner’s', async () => {
        const upload = await alice.begin()
        const { etag } = (await alice.put(upload, 1, noise(5))).body
        const parts = [{ part_number: 1, etag }]
        expectProblem(await bob.put(upload, 1, noise(5)), 404, 'NOT_FOUND')
        expectProblem(await bob.look(upload), 404, 'NOT_FOUND')
        expectProblem(await bob.complete(upload, parts), 404, 'NOT_FOUND')
        expectProblem(await bob.abort(upload), 404, 'NOT_FOUND')
        const other = await alice.begin()
        const mixed = { ...upload, media_key: other.media_key }
        expectProblem(await alice.put(mixed, 1, noise(5)), 404, 'NOT_FOUND')
        expectProblem(await alice.complete(mixed, parts), 404, 'NOT_FOUND')
        expect((await alice.complete(upload, parts)).status).toBe(200)
      })

      test('is given up by its owner, gives its room back and cannot be gone on with', async () => {
        const before = await alice.usedBytes()
        const upload = await alice.begin()
        const { etag } = (await alice.put(upload, 1, noise(5000))).body
        expect((await alice.abort(upload)).status).toBe(204)
        expect(await alice.usedBytes()).toBe(before)
        expectProblem(await alice.put(upload, 1, noise(5)), 404, 'NOT_FOUND')
        expectProblem(await alice.complete(upload, [{ part_number: 1, etag }]), 404, 'NOT_FOUND')
        expectProblem(await alice.abort(upload), 404, 'NOT_FOUND')
      })

      test('takes nothing more once it is complete', async () => {
        const upload = await alice.begin()
        const bytes = noise(500)
        const parts = await alice.putAll(upload, [bytes])
        await alice.complete(upload, parts)
        expectProblem(await alice.put(upload, 1, noise(5)), 404, 'NOT_FOUND')
        expectProblem(await alice.put(upload, 2, noise(5)), 404, 'NOT_FOUND')
        expectProblem(await alice.look(upload), 404, 'NOT_FOUND')
        expectProblem(await alice.abort(upload), 404, 'NOT_FOUND')
        expect(await bytesOf(await bob.download(upload.media_key))).toEqual(bytes)
      })

      test.each(['0', '-1', '10001', '1.5', '01', 'x', '', '1e2', '99999999999999999999'])(
        'has no part number %p',
        async (number) => {
          expectInvalidField(await alice.put(await alice.begin(), number, noise(5)), 'partNumber')
        },
      )

      test('has a part 10,000 and no part that is empty or too large', async () => {
        const upload = await alice.begin()
        expect((await alice.put(upload, 10_000, noise(5))).status).toBe(200)
        expectInvalidField(await alice.put(upload, 1, new Uint8Array()), 'body')
        expectProblem(await alice.put(upload, 1, noise(PART_BYTES + 1)), 413, 'PAYLOAD_TOO_LARGE')
        const endless = new ReadableStream({ pull: (controller) => controller.enqueue(noise(1_000_000)) })
        expectProblem(await alice.put(upload, 1, endless), 413, 'PAYLOAD_TOO_LARGE')
        expect((await alice.look(upload)).body.parts).toHaveLength(1)
        await alice.abort(upload)
      })

      test('shows no part whose connection was cut', async () => {
        const before = await alice.usedBytes()
        const upload = await alice.begin()
        const { etag } = (await alice.put(upload, 1, noise(100))).body
        await cutPart(alice, upload, 1)
        await cutPart(alice, upload, 2)
        await settled(async () => (await alice.usedBytes()) === before + 100)
        expect((await alice.look(upload)).body.parts).toEqual([{ part_number: 1, size: 100, etag }])
        expect((await alice.complete(upload, [{ part_number: 1, etag }])).status).toBe(200)
      })

      test('given up or completed while a part is on its way, does without it', async () => {
        for (const end of ['abort', 'complete'] as const) {
          const upload = await alice.begin()
          const parts = await alice.putAll(upload, [noise(100)])
          const slow = slowBody()
          const late = alice.put(upload, end === 'abort' ? 2 : 1, slow.body)
          await slow.taken
          const ended = await (end === 'abort' ? alice.abort(upload) : alice.complete(upload, parts))
          expect(ended.status).toBe(end === 'abort' ? 204 : 200)
          slow.finish()
          expectProblem(await late, 404, 'NOT_FOUND')
          const got = await bob.download(upload.media_key)
          expect(got.status).toBe(end === 'abort' ? 404 : 200)
          if (end === 'complete') expect((await bytesOf(got)).length).toBe(100)
        }
      })

      test('completed while its parts are uploaded again and again, is one of the versions and whole', async () => {
        const upload = await alice.begin()
        const versions = Array.from({ length: 6 }, () => noise(20_000))
        const puts = versions.map((bytes) => alice.put(upload, 1, bytes))
        let isOver = false
        const over = Promise.all(puts).then(() => {
          isOver = true
        })
        let size = 0
        for (const late = performance.now() + 15_000; size === 0 && performance.now() < late; ) {
          const { body } = await alice.look(upload)
          const [part] = body.parts
          // A store that has the next version already knows the one before no more: then nothing is certain, and all is forgotten.
          if (!part && isOver) await alice.put(upload, 1, versions[0] ?? noise(1))
          if (!part) continue
          const done = await alice.complete(upload, [{ part_number: 1, etag: part.etag }])
          if (done.status === 200) size = done.body.size
          else expectProblem(done, 409, 'PARTS_MISMATCH')
        }
        await over
        expect(size).toBe(20_000)
        const got = createHash('sha256')
          .update(await bytesOf(await bob.download(upload.media_key)))
          .digest('hex')
        const sent = versions.map((bytes) => createHash('sha256').update(bytes).digest('hex'))
        expect(sent).toContain(got)
      })

      test.skipIf(!place.wantsLargeParts)(
        'of small parts is refused by name where the store takes none',
        async () => {
          const upload = await alice.begin()
          const parts = await alice.putAll(upload, [noise(10), noise(10)])
          expectInvalidField(await alice.complete(upload, parts), 'parts')
          await alice.abort(upload)
        },
      )

      test.skipIf(place.wantsLargeParts)('can consist of parts of any size', async () => {
        const parts = [noise(1), noise(70_000), noise(3)]
        const key = await alice.upload(...parts)
        expect(Buffer.compare(await bytesOf(await bob.download(key)), Buffer.concat(parts))).toBe(0)
      })
    })

    describe('a download', () => {
      const whole = noise(PART_BYTES + 5000)
      const parts = [whole.slice(0, PART_BYTES), whole.slice(PART_BYTES)]
      let key = ''

      beforeAll(async () => {
        key = await alice.upload(...parts)
      })

      test('is bytes and nothing else to any browser', async () => {
        const { status, headers } = await bob.download(key)
        expect(status).toBe(200)
        expect(headers.get('content-type')).toBe('application/octet-stream')
        expect(headers.get('content-disposition')).toBe('attachment')
        expect(headers.get('x-content-type-options')).toBe('nosniff')
        expect(headers.get('content-security-policy')).toBe('sandbox')
        expect(headers.get('accept-ranges')).toBe('bytes')
        expect(headers.get('etag')).toMatch(/^"[!-~]+"$/)
        if (place.tellsLength) expect(headers.get('content-length')).toBe(`${whole.length}`)
        expect(headers.get('access-control-expose-headers')).toContain('content-range')
      })

      test('of the key with the hash behind it is the same blob', async () => {
        const hash = createHash('sha256').update(whole).digest('base64url')
        const got = await bob.download(`${key}.h${hash}`)
        expect(Buffer.compare(await bytesOf(got), whole)).toBe(0)
        expect(got.headers.get('etag')).toBe((await bob.download(key)).headers.get('etag'))
      })

      const size = whole.length
      test.each([
        ['bytes=0-0', 0, 0],
        ['bytes=10-99', 10, 99],
        [`bytes=${PART_BYTES - 10}-${PART_BYTES + 9}`, PART_BYTES - 10, PART_BYTES + 9],
        [`bytes=${PART_BYTES}-`, PART_BYTES, size - 1],
        ['bytes=-5', size - 5, size - 1],
        [`bytes=-${size * 2}`, 0, size - 1],
        [`bytes=${size - 1}-${size + 50}`, size - 1, size - 1],
        ['bytes=0-', 0, size - 1],
      ])('of %s is that range', async (range, from, to) => {
        const got = await bob.download(key, { range })
        expect(got.status).toBe(206)
        expect(got.headers.get('content-range')).toBe(`bytes ${from}-${to}/${size}`)
        const told = got.headers.get('content-length')
        if (place.tellsLength || to - from < 1000) expect(told).toBe(`${to - from + 1}`)
        expect(Buffer.compare(await bytesOf(got), whole.subarray(from, to + 1))).toBe(0)
      })

      test.each(['bytes=5-3', 'bytes=-', 'bytes=a-b', 'lines=1-2', 'bytes=0-1,5-6', ''])(
        'of %p, which is no range, is the whole',
        async (range) => {
          const got = await bob.download(key, { range })
          expect([got.status, (await bytesOf(got)).length]).toEqual([200, size])
        },
      )

      test.each([`bytes=${size}-`, 'bytes=-0', `bytes=${size + 10}-${size + 20}`])(
        'of %s, behind the end, is refused and says where that is',
        async (range) => {
          const url = bob.account.api(`/media/download?key=${key}`)
          const answer = await call(url, { headers: { ...bob.account.authorized(), range } })
          expectProblem(answer, 416, 'RANGE_NOT_SATISFIABLE')
          expect(answer.headers.get('content-range')).toBe(`bytes */${size}`)
        },
      )

      test('that is known already is not sent again, and a range of something else is the whole', async () => {
        const etag = (await bob.download(key)).headers.get('etag') ?? ''
        for (const known of [etag, `"x", W/${etag}`, '*']) {
          const got = await bob.download(key, { 'if-none-match': known })
          expect([got.status, (await bytesOf(got)).length]).toEqual([304, 0])
        }
        expect((await bob.download(key, { 'if-none-match': '"x"' })).status).toBe(200)
        const range = 'bytes=1-2'
        expect((await bob.download(key, { range, 'if-range': etag })).status).toBe(206)
        for (const other of ['"x"', `W/${etag}`, 'Wed, 21 Oct 2015 07:28:00 GMT']) {
          const got = await bob.download(key, { range, 'if-range': other })
          expect([got.status, (await bytesOf(got)).length]).toEqual([200, size])
        }
      })

      test('can be asked for its headers alone', async () => {
        const got = await bob.download(key, { range: 'bytes=0-5' }, 'HEAD')
        expect([got.status, got.headers.get('content-length')]).toEqual([200, `${size}`])
        expect((await bytesOf(got)).length).toBe(0)
        expect((await bob.download('m_0123456789012345678901', {}, 'HEAD')).status).toBe(404)
      })

      test('of a small blob and its ranges works as well', async () => {
        const bytes = noise(10_000)
        const small = await alice.upload(bytes)
        expect(await bytesOf(await bob.download(small))).toEqual(bytes)
        expect(await bytesOf(await bob.download(small, { range: 'bytes=-7' }))).toEqual(bytes.subarray(-7))
        const etag = '"other"'
        const got = await bob.download(small, { range: 'bytes=0-1', 'if-range': etag })
        expect([got.status, (await bytesOf(got)).length]).toEqual([200, 10_000])
      })

      test.each([
        '../sotto.db',
        '..%2fsotto.db',
        'm_../../../../etc/passwd',
        'm_012345678901234567890|',
        'm_01234567890123456789012',
        'm_0123456789012345678901/x',
        'm_0123456789012345678901.x',
        'm_0123456789012345678901\u0000',
        'x',
        '',
      ])('of %p, which is no key, is refused', async (wrong) => {
        const got = await bob.download(wrong)
        expect(got.status).toBe(400)
        expect(await got.json()).toMatchObject({ error: 'INVALID_FIELD', field: 'key' })
      })

      test('needs a login and a key that exists', async () => {
        expect((await fetch(bob.account.api(`/media/download?key=${key}`))).status).toBe(401)
        expect((await bob.download('m_0123456789012345678901')).status).toBe(404)
        const upload = await alice.begin()
        await alice.put(upload, 1, noise(5))
        expect((await bob.download(upload.media_key)).status).toBe(404)
      })
    })

    describe('a link', () => {
      test('takes a whole blob once, which whoever has the key downloads by token or by link', async () => {
        const bytes = noise(200_000)
        const answer = await alice.account.post('/media/upload-url', { content_type: 'image/png' })
        expectFields(answer.body, ['upload_url', 'media_key', 'expires_in'])
        const { upload_url, media_key } = answer.body
        expect(media_key).toMatch(KEY)
        expect((await bob.download(media_key)).status).toBe(404)
        const put = await fetch(upload_url, {
          method: 'PUT',
          body: bytes,
          headers: { 'content-type': 'image/png' },
        })
        expect(put.ok).toBe(true)
        expect(await bytesOf(await bob.download(media_key))).toEqual(bytes)
        await fetch(upload_url, { method: 'PUT', body: noise(200_000) })
        expect(await bytesOf(await bob.download(media_key))).toEqual(bytes)

        const { body } = await bob.account.get(`/media/download-url?key=${media_key}.habc`)
        expectFields(body, ['download_url', 'expires_in'])
        const got = await fetch(body.download_url, { headers: { range: 'bytes=5-9' } })
        expect(got.status).toBe(206)
        expect(got.headers.get('content-type')).toBe('application/octet-stream')
        expect(got.headers.get('content-disposition')).toBe('attachment')
        expect(await bytesOf(got)).toEqual(bytes.subarray(5, 10))
        expect((await fetch(body.download_url, { method: 'PUT', body: 'x' })).ok).toBe(false)
        expect((await fetch(upload_url)).ok).toBe(false)
      })

      test('leads to a blob uploaded in parts as well', async () => {
        const parts = [noise(PART_BYTES), noise(10)]
        const key = await alice.upload(...parts)
        const { body } = await bob.account.get(`/media/download-url?key=${key}`)
        const got = await bytesOf(await fetch(body.download_url))
        expect(Buffer.compare(got, Buffer.concat(parts))).toBe(0)
        expectProblem(
          await bob.account.get('/media/download-url?key=m_0123456789012345678901'),
          404,
          'NOT_FOUND',
        )
      })

      test('for so many bytes takes just as many', async () => {
        const { body } = await alice.account.post('/media/upload-url', { size: 1000 })
        for (const bytes of [999, 1001]) {
          expect((await fetch(body.upload_url, { method: 'PUT', body: noise(bytes) })).ok).toBe(false)
        }
        expect((await bob.download(body.media_key)).status).toBe(404)
        expect((await fetch(body.upload_url, { method: 'PUT', body: noise(1000) })).ok).toBe(true)
        expect((await bytesOf(await bob.download(body.media_key))).length).toBe(1000)
      })

      test('takes the room it may need, and gives back what it did not', async () => {
        const before = await alice.usedBytes()
        const { body } = await alice.account.post('/media/upload-url', { size: 5000 })
        expect(await alice.usedBytes()).toBe(before + 5000)
        const open = (await alice.account.post('/media/upload-url', {})).body
        expect(await alice.usedBytes()).toBeGreaterThan(before + 100_000_000)
        await fetch(open.upload_url, { method: 'PUT', body: noise(10) })
        await bob.download(open.media_key)
        await fetch(body.upload_url, { method: 'PUT', body: noise(5000) })
        await bob.download(body.media_key)
        expect(await alice.usedBytes()).toBe(before + 5010)
      })

      test('that was tampered with opens nothing', async () => {
        const { body } = await alice.account.post('/media/upload-url', {})
        const url: string = body.upload_url
        const tampered = url.endsWith('a') ? `${url.slice(0, -1)}b` : `${url.slice(0, -1)}a`
        expect((await fetch(tampered, { method: 'PUT', body: noise(5) })).ok).toBe(false)
        expect((await bob.download(body.media_key)).status).toBe(404)
      })
    })

    test('a deleted account’s media goes with it', async () => {
      const carol = await MediaAccount.make(relay.url)
      const key = await carol.upload(noise(1000))
      const upload = await carol.begin()
      await carol.put(upload, 1, noise(10))
      expect((await bob.download(key)).status).toBe(200)
      expect((await carol.account.bare('DELETE', '/me')).status).toBe(204)
      expect((await bob.download(key)).status).toBe(404)
    })

    test('the estimate is what is used, what may be, and what waits', async () => {
      const carol = await MediaAccount.make(relay.url)
      await carol.upload(noise(1234))
      const { body } = await carol.account.get('/storage/estimate')
      expect(body).toEqual({
        used_bytes: 1234,
        total_bytes: 1234,
        quota_bytes: 1_073_741_824,
        message_count: 0,
      })
    })
  })
}

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

/** A body that is half sent until it is told to end. */
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

async function settled(isSo: () => Promise<boolean>): Promise<void> {
  for (let triesLeft = 100; !(await isSo()); triesLeft--) {
    if (triesLeft === 0) throw new Error('it never settled')
    await Bun.sleep(50)
  }
}
