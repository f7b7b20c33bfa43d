// Attacks by an account through uploads and downloads: using more disk, memory or time than the relay counts.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { readdir, stat } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { type BadWay, startBadWay } from './bad-way.ts'
import { swiftEnvironment } from './media-stores.ts'
import { bytesOf, MediaAccount, noise, PART_BYTES } from './media-wire.ts'
import { type RelayProcess, startRelay } from './relay-process.ts'
import { residentMib } from './resident.ts'
import { useRelayWith } from './use-relay.ts'

const MIB = 1024 * 1024

describe('in a folder', () => {
  const relay = useRelayWith(async () => ({ LIMIT_MEDIA_BYTES: `${2 * MIB}` }))

  /** The bytes of the media files on the disk. */
  async function diskBytes(): Promise<number> {
    const folder = join(relay.process.dataDir, 'media')
    const entries = await readdir(folder, { recursive: true, withFileTypes: true })
    const files = entries.filter((entry) => entry.isFile())
    const sizes = files.map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).size)
    return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
  }

  test('parts that are cut off one after another leave nothing on the disk', async () => {
    const alice = await MediaAccount.make(relay.url)
    const upload = await alice.begin()
    for (let number = 1; number <= 20; number++) await breakOff(alice, upload, number, MIB)
    await until(async () => (await alice.usedBytes()) === 0)
    expect(await diskBytes()).toBe(0)
    await alice.abort(upload)
  })

  test('parts that are replaced by smaller ones, also in the middle, use no more disk than counts', async () => {
    const alice = await MediaAccount.make(relay.url)
    const upload = await alice.begin()
    for (let number = 1; number <= 20; number++) {
      expect((await alice.put(upload, number, noise(MIB))).status).toBe(200)
      expect((await alice.put(upload, number, noise(1))).status).toBe(200)
    }
    expect([await alice.usedBytes(), await diskBytes()]).toEqual([20, 20])
    const other = await alice.begin()
    await alice.putAll(other, [noise(MIB), noise(MIB)])
    expect((await alice.put(other, 1, noise(1))).status).toBe(200)
    // The first part's place is in the middle of a file, so it counts until the upload ends.
    expect([await alice.usedBytes(), await diskBytes()]).toEqual([2 * MIB + 21, 2 * MIB + 21])
    await alice.abort(other)
    await alice.abort(upload)
    expect(await alice.usedBytes()).toBe(0)
    expect(await diskBytes()).toBe(0)
  })

  test('a blob has exactly the bytes that count, although parts behind it were cut off', async () => {
    const alice = await MediaAccount.make(relay.url)
    for (let round = 0; round < 3; round++) {
      const upload = await alice.begin()
      const { etag } = (await alice.put(upload, 1, noise(1))).body
      for (let number = 2; number <= 4; number++) await breakOff(alice, upload, number, 500_000)
      expect((await alice.complete(upload, [{ part_number: 1, etag }])).body.size).toBe(1)
    }
    await until(async () => (await alice.usedBytes()) === 3)
    expect(await diskBytes()).toBe(3)
  })
})

describe('in Swift, over a network that can fail', () => {
  let way: BadWay
  let relay: RelayProcess
  beforeAll(async () => {
    const swift = await swiftEnvironment()
    way = await startBadWay(swift.MEDIA_S3_ENDPOINT ?? '')
    relay = await startRelay({ env: { ...swift, MEDIA_S3_ENDPOINT: way.url } })
  }, 240_000)
  afterEach(() => way.mend())
  afterAll(async () => {
    await relay.stop()
    await way.stop()
  })

  test('a download that the store cuts off is cut off for the client too and does not look complete', async () => {
    const alice = await MediaAccount.make(relay.url)
    const key = await alice.upload(noise(PART_BYTES))
    way.cutAfter(2 * MIB)
    const got = await alice.download(key)
    expect(got.status).toBe(200)
    expect(
      await bytesOf(got).then(
        ({ length }) => length,
        () => 'cut',
      ),
    ).toBe('cut')
  })

  test('a client that disconnects during a download ends the transfer from the store too', async () => {
    const alice = await MediaAccount.make(relay.url)
    const key = await alice.upload(noise(PART_BYTES), noise(PART_BYTES))
    way.drip(10_000, 20)
    const begun = way.back()
    const got = await alice.download(key)
    const reader = got.body?.getReader()
    await reader?.read()
    await reader?.cancel()
    // The transfer stops long before the whole blob has arrived.
    let before: number
    do {
      before = way.back()
      await Bun.sleep(500)
    } while (way.back() > before)
    expect(way.back() - begun).toBeLessThan(PART_BYTES)
  })

  test('many parts at once that have no length and never end cost the relay no memory', async () => {
    const alice = await MediaAccount.make(relay.url)
    const upload = await alice.begin()
    const before = residentMib(relay)
    const sockets = await Promise.all(
      Array.from({ length: 60 }, (_, i) => endless(alice, upload, i + 1, 4 * MIB)),
    )
    await Bun.sleep(1500)
    const grown = residentMib(relay) - before
    for (const socket of sockets) socket.destroy()
    expect(grown).toBeLessThan(48)
    await until(async () => (await alice.usedBytes()) === 0)
  })

  test('downloads that the client does not read cost the relay no memory', async () => {
    const alice = await MediaAccount.make(relay.url)
    const part = noise(PART_BYTES)
    const key = await alice.upload(part, part, part, part)
    const before = residentMib(relay)
    const sockets = await Promise.all(Array.from({ length: 20 }, () => unread(alice, key)))
    await Bun.sleep(3000)
    const grown = residentMib(relay) - before
    for (const socket of sockets) socket.destroy()
    expect(grown).toBeLessThan(64)
  })

  test('an empty upload to a link stores nothing and leaves the link usable', async () => {
    const alice = await MediaAccount.make(relay.url)
    const { body } = await alice.account.post('/media/upload-url', {})
    await fetch(body.upload_url, { method: 'PUT', body: '' })
    expect((await alice.download(body.media_key)).status).toBe(404)
    expect((await fetch(body.upload_url, { method: 'PUT', body: noise(5) })).ok).toBe(true)
    expect((await bytesOf(await alice.download(body.media_key))).length).toBe(5)
  })
})

/** Begins a part without announcing its length, and sends a piece of it. */
async function endless(
  { account }: MediaAccount,
  { upload_id, media_key }: { upload_id: string; media_key: string },
  number: number,
  bytes: number,
): Promise<Socket> {
  const socket = connect(Number(new URL(account.base).port), '127.0.0.1')
  socket.on('error', () => undefined)
  await new Promise((resolve) => socket.once('connect', resolve))
  const path = `/api/v1/media/upload-parts/${upload_id}/chunk?mediaKey=${media_key}&partNumber=${number}`
  const head = [`POST ${path} HTTP/1.1`, 'host: relay', `authorization: Bearer ${account.token}`]
  socket.write(`${[...head, 'transfer-encoding: chunked'].join('\r\n')}\r\n\r\n`)
  socket.write(`${bytes.toString(16)}\r\n`)
  await new Promise((resolve) => socket.write(noise(bytes), resolve))
  return socket
}

/** Requests a blob and does not read the answer. */
async function unread({ account }: MediaAccount, key: string): Promise<Socket> {
  const socket = connect(Number(new URL(account.base).port), '127.0.0.1')
  socket.on('error', () => undefined)
  await new Promise((resolve) => socket.once('connect', resolve))
  socket.pause()
  const head = [`GET /api/v1/media/download?key=${key} HTTP/1.1`, 'host: relay']
  socket.write(`${[...head, `authorization: Bearer ${account.token}`].join('\r\n')}\r\n\r\n`)
  return socket
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  for (let triesLeft = 600; !(await condition()); triesLeft--) {
    if (triesLeft === 0) throw new Error('the condition was not met in 30 s')
    await Bun.sleep(50)
  }
}

/** Announces a part, sends nearly all of it and cuts the connection. */
async function breakOff(
  { account }: MediaAccount,
  { upload_id, media_key }: { upload_id: string; media_key: string },
  number: number,
  bytes: number,
): Promise<void> {
  const socket = connect(Number(new URL(account.base).port), '127.0.0.1')
  await new Promise((resolve) => socket.once('connect', resolve))
  const path = `/api/v1/media/upload-parts/${upload_id}/chunk?mediaKey=${media_key}&partNumber=${number}`
  const head = [`POST ${path} HTTP/1.1`, 'host: relay', `authorization: Bearer ${account.token}`]
  socket.write(`${[...head, `content-length: ${bytes}`].join('\r\n')}\r\n\r\n`)
  await new Promise((resolve) => socket.write(noise(bytes - 1), resolve))
  await Bun.sleep(30)
  socket.destroy()
}
