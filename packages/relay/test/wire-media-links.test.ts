// Upload and download links, in every place that can store blobs.
import { describe, expect, test } from 'bun:test'
import { expectFields, expectInvalidField, expectProblem } from './expect.ts'
import { bytesOf, MediaAccount, noise, PART_BYTES } from './media-wire.ts'
import { inEveryPlace } from './media-world.ts'

const KEY = /^m_[A-Za-z0-9_-]{22}$/

inEveryPlace((world) => {
  describe('a link', () => {
    test('accepts a whole blob once; anyone with the key downloads it by token or by link', async () => {
      const bytes = noise(200_000)
      const answer = await world.alice.account.post('/media/upload-url', { content_type: 'image/png' })
      expectFields(answer.body, ['upload_url', 'media_key', 'expires_in'])
      const { upload_url, media_key } = answer.body
      expect(media_key).toMatch(KEY)
      expect((await world.bob.download(media_key)).status).toBe(404)
      const put = await fetch(upload_url, {
        method: 'PUT',
        body: bytes,
        headers: { 'content-type': 'image/png' },
      })
      expect(put.ok).toBe(true)
      expect(await bytesOf(await world.bob.download(media_key))).toEqual(bytes)
      await fetch(upload_url, { method: 'PUT', body: noise(200_000) })
      expect(await bytesOf(await world.bob.download(media_key))).toEqual(bytes)

      const { body } = await world.bob.account.get(`/media/download-url?key=${media_key}.habc`)
      expectFields(body, ['download_url', 'expires_in'])
      const got = await fetch(body.download_url, { headers: { range: 'bytes=5-9' } })
      expect(got.status).toBe(206)
      expect(got.headers.get('content-type')).toBe('application/octet-stream')
      expect(got.headers.get('content-disposition')).toBe('attachment')
      expect(await bytesOf(got)).toEqual(bytes.subarray(5, 10))
      expect((await fetch(body.download_url, { method: 'PUT', body: 'x' })).ok).toBe(false)
      expect((await fetch(upload_url)).ok).toBe(false)
    })

    test('downloads a blob that was uploaded in parts too', async () => {
      const parts = [noise(PART_BYTES), noise(10)]
      const key = await world.alice.upload(...parts)
      const { body } = await world.bob.account.get(`/media/download-url?key=${key}`)
      const got = await bytesOf(await fetch(body.download_url))
      expect(Buffer.compare(got, Buffer.concat(parts))).toBe(0)
      expectProblem(
        await world.bob.account.get('/media/download-url?key=m_0123456789012345678901'),
        404,
        'NOT_FOUND',
      )
    })

    test('for a given size accepts exactly that many bytes', async () => {
      const { body } = await world.alice.account.post('/media/upload-url', { size: 1000 })
      for (const bytes of [999, 1001]) {
        expect((await fetch(body.upload_url, { method: 'PUT', body: noise(bytes) })).ok).toBe(false)
      }
      expect((await world.bob.download(body.media_key)).status).toBe(404)
      expect((await fetch(body.upload_url, { method: 'PUT', body: noise(1000) })).ok).toBe(true)
      expect((await bytesOf(await world.bob.download(body.media_key))).length).toBe(1000)
    })

    test('reserves the storage it may need and frees what it did not use', async () => {
      const before = await world.alice.usedBytes()
      const { body } = await world.alice.account.post('/media/upload-url', { size: 5000 })
      expect(await world.alice.usedBytes()).toBe(before + 5000)
      const open = (await world.alice.account.post('/media/upload-url', {})).body
      expect(await world.alice.usedBytes()).toBeGreaterThan(before + 100_000_000)
      await fetch(open.upload_url, { method: 'PUT', body: noise(10) })
      await world.bob.download(open.media_key)
      await fetch(body.upload_url, { method: 'PUT', body: noise(5000) })
      await world.bob.download(body.media_key)
      // A link to the store itself can be written again until it expires, so it counts until then.
      const again = world.place.requiresLargeParts ? 5000 : 0
      expect(await world.alice.usedBytes()).toBe(before + 5010 + again)
    })

    test('is given whatever text names the conversation, because the relay does not use it', async () => {
      const { account } = await MediaAccount.make(world.relay.url)
      const ask = (conversation_id: unknown) =>
        account.post('/media/upload-url', { conversation_id, size: 1 })
      for (const text of ['', 'no UUID \u2026', 'x'.repeat(128)]) expect((await ask(text)).status).toBe(200)
      for (const wrong of ['x'.repeat(129), 7, null]) expectInvalidField(await ask(wrong), 'conversation_id')
    })

    test('that was tampered with is refused', async () => {
      const { body } = await world.alice.account.post('/media/upload-url', {})
      const url: string = body.upload_url
      const tampered = url.endsWith('a') ? `${url.slice(0, -1)}b` : `${url.slice(0, -1)}a`
      expect((await fetch(tampered, { method: 'PUT', body: noise(5) })).ok).toBe(false)
      expect((await world.bob.download(body.media_key)).status).toBe(404)
    })
  })

  test('deleting an account deletes its media', async () => {
    const carol = await MediaAccount.make(world.relay.url)
    const key = await carol.upload(noise(1000))
    const upload = await carol.begin()
    await carol.put(upload, 1, noise(10))
    expect((await world.bob.download(key)).status).toBe(200)
    expect((await carol.account.bare('DELETE', '/me')).status).toBe(200)
    expect((await world.bob.download(key)).status).toBe(404)
  })

  test('the storage estimate has the used bytes, the quota and the number of waiting messages', async () => {
    const carol = await MediaAccount.make(world.relay.url)
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
