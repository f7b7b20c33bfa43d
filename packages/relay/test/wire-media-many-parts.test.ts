// The most parts that an upload can have: they can be completed as well as uploaded.
import { describe, expect, test } from 'bun:test'
import { MOST_PARTS } from '@sotto/protocol'
import { expectProblem } from './expect.ts'
import { bytesOf, MediaAccount, noise, type WirePart } from './media-wire.ts'
import { useRelay } from './use-relay.ts'
import { call } from './wire.ts'

/** As many as one account may send at once. */
const AT_ONCE = 32

describe('an upload', () => {
  const relay = useRelay()

  test(`of ${MOST_PARTS} parts is completed, listed and downloaded`, async () => {
    const alice = await MediaAccount.make(relay.url)
    const upload = await alice.begin()
    const whole = noise(MOST_PARTS)
    const parts: WirePart[] = []
    let number = 0
    const putNext = async (): Promise<void> => {
      while (number < MOST_PARTS) {
        number += 1
        const part_number = number
        const { body } = await alice.put(upload, part_number, whole.subarray(part_number - 1, part_number))
        parts[part_number - 1] = { part_number, etag: body.etag }
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, putNext))
    expect((await alice.listParts(upload)).body.parts).toHaveLength(MOST_PARTS)
    expect((await alice.complete(upload, parts)).body).toEqual({
      media_key: upload.media_key,
      size: MOST_PARTS,
    })
    expect(await bytesOf(await alice.download(upload.media_key))).toEqual(whole)
  }, 600_000) // 10,000 requests, which a busy machine takes minutes for.
})

describe('a list of parts', () => {
  const relay = useRelay({ LIMIT_COMPLETE_BYTES: '65536' })

  test('of more bytes than the relay’s setting is refused', async () => {
    const alice = await MediaAccount.make(relay.url)
    const upload = await alice.begin()
    const parts = await alice.putAll(upload, [noise(5)])
    const text = JSON.stringify({ media_key: upload.media_key, parts })
    const complete = (bytes: number) =>
      call(alice.account.api(`/media/upload-parts/${upload.upload_id}/complete`), {
        method: 'POST',
        headers: alice.account.authorized(),
        body: text.padEnd(bytes),
      })
    expectProblem(await complete(65_537), 413, 'PAYLOAD_TOO_LARGE')
    expect((await complete(65_536)).status).toBe(200)
  })
})
