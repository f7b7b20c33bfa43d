// Downloads, seen from outside, in every place that can store blobs.
import { beforeAll, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { expectProblem } from './expect.ts'
import { bytesOf, noise, PART_BYTES } from './media-wire.ts'
import { inEveryPlace } from './media-world.ts'
import { call } from './wire.ts'

inEveryPlace((world) => {
  describe('a download', () => {
    const whole = noise(PART_BYTES + 5000)
    const parts = [whole.slice(0, PART_BYTES), whole.slice(PART_BYTES)]
    let key = ''

    beforeAll(async () => {
      key = await world.alice.upload(...parts)
    })

    test('has headers that make every browser treat it as plain bytes', async () => {
      const { status, headers } = await world.bob.download(key)
      expect(status).toBe(200)
      expect(headers.get('content-type')).toBe('application/octet-stream')
      expect(headers.get('content-disposition')).toBe('attachment')
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('content-security-policy')).toEndWith('; sandbox')
      expect(headers.get('cache-control')).toBe('private, no-cache')
      expect(headers.get('accept-ranges')).toBe('bytes')
      expect(headers.get('etag')).toMatch(/^"[!-~]+"$/)
      if (world.place.statesLength) expect(headers.get('content-length')).toBe(`${whole.length}`)
      expect(headers.get('access-control-expose-headers')).toContain('content-range')
    })

    test('by the key with the hash appended returns the same blob', async () => {
      const hash = createHash('sha256').update(whole).digest('base64url')
      const got = await world.bob.download(`${key}.h${hash}`)
      expect(Buffer.compare(await bytesOf(got), whole)).toBe(0)
      expect(got.headers.get('etag')).toBe((await world.bob.download(key)).headers.get('etag'))
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
    ])('with range %s returns that range', async (range, from, to) => {
      const got = await world.bob.download(key, { range })
      expect(got.status).toBe(206)
      expect(got.headers.get('content-range')).toBe(`bytes ${from}-${to}/${size}`)
      const length = got.headers.get('content-length')
      if (world.place.statesLength || to - from < 1000) expect(length).toBe(`${to - from + 1}`)
      expect(Buffer.compare(await bytesOf(got), whole.subarray(from, to + 1))).toBe(0)
    })

    test.each(['bytes=5-3', 'bytes=-', 'bytes=a-b', 'lines=1-2', 'bytes=0-1,5-6', ''])(
      'with range %p, which is invalid, returns the whole blob',
      async (range) => {
        const got = await world.bob.download(key, { range })
        expect([got.status, (await bytesOf(got)).length]).toEqual([200, size])
      },
    )

    test.each([`bytes=${size}-`, 'bytes=-0', `bytes=${size + 10}-${size + 20}`])(
      'with range %s, past the end, is refused with the size of the blob',
      async (range) => {
        const url = world.bob.account.api(`/media/download?key=${key}`)
        const answer = await call(url, { headers: { ...world.bob.account.authorized(), range } })
        expectProblem(answer, 416, 'RANGE_NOT_SATISFIABLE')
        expect(answer.headers.get('content-range')).toBe(`bytes */${size}`)
      },
    )

    test('that the client already has is not sent again; a range of a different version returns the whole blob', async () => {
      const etag = (await world.bob.download(key)).headers.get('etag') ?? ''
      for (const known of [etag, `"x", W/${etag}`, '*']) {
        const got = await world.bob.download(key, { 'if-none-match': known })
        expect([got.status, (await bytesOf(got)).length]).toEqual([304, 0])
      }
      expect((await world.bob.download(key, { 'if-none-match': '"x"' })).status).toBe(200)
      const range = 'bytes=1-2'
      expect((await world.bob.download(key, { range, 'if-range': etag })).status).toBe(206)
      for (const other of ['"x"', `W/${etag}`, 'Wed, 21 Oct 2015 07:28:00 GMT']) {
        const got = await world.bob.download(key, { range, 'if-range': other })
        expect([got.status, (await bytesOf(got)).length]).toEqual([200, size])
      }
    })

    test('can be requested with HEAD', async () => {
      const got = await world.bob.download(key, { range: 'bytes=0-5' }, 'HEAD')
      expect([got.status, got.headers.get('content-length')]).toEqual([200, `${size}`])
      expect((await bytesOf(got)).length).toBe(0)
      expect((await world.bob.download('m_0123456789012345678901', {}, 'HEAD')).status).toBe(404)
    })

    test('of a small blob, whole or in ranges, works too', async () => {
      const bytes = noise(10_000)
      const small = await world.alice.upload(bytes)
      expect(await bytesOf(await world.bob.download(small))).toEqual(bytes)
      expect(await bytesOf(await world.bob.download(small, { range: 'bytes=-7' }))).toEqual(
        bytes.subarray(-7),
      )
      const etag = '"other"'
      const got = await world.bob.download(small, { range: 'bytes=0-1', 'if-range': etag })
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
    ])('by %p, which is not a key, is refused', async (wrong) => {
      const got = await world.bob.download(wrong)
      expect(got.status).toBe(400)
      expect(await got.json()).toMatchObject({ error: 'INVALID_FIELD', field: 'key' })
    })

    test('needs a login and a key that exists', async () => {
      expect((await fetch(world.bob.account.api(`/media/download?key=${key}`))).status).toBe(401)
      expect((await world.bob.download('m_0123456789012345678901')).status).toBe(404)
      const upload = await world.alice.begin()
      await world.alice.put(upload, 1, noise(5))
      expect((await world.bob.download(upload.media_key)).status).toBe(404)
    })
  })
})
