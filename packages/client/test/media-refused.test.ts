// Uploads and downloads that fail: aborted, too large, no room, a locked client, changed keys. Each fails
// with its code and leaves no data behind. Transfers that the network interrupts continue.

import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { truncate } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { encodeBase64 } from '@sotto/crypto'
import { type RelayProcess, startRelay } from '@sotto/relay/testing'
import { failureOf } from '../../protocol/test/failure-of.ts'
import { ClientError, keyVault, Media } from '../src/client.ts'
import { filesOf, MIB, noise } from './media-world.ts'
import { Person, until } from './people.ts'

const CHUNK = 5 * MIB

let relay: RelayProcess
let alice: Person
let bob: Person
let media: Media
/** Alice's requests, by method and path. */
const requests: string[] = []
let token = ''
/** Which half of the next upload of a chunk the network loses: the request or its answer. */
let lost: 'request' | 'answer' | undefined
function loseOnce(): TypeError {
  lost = undefined
  return new TypeError('the network lost the request or its answer')
}
/** Runs before alice requests to complete an upload. */
let beforeCompleting: (() => Promise<void>) | undefined
/** Whether the relay returns another X25519 key for an account that alice looks up. */
let impostor = false

beforeAll(async () => {
  relay = await startRelay({
    env: {
      LIMIT_MEDIA_BYTES: String(12 * MIB),
      LIMIT_MEDIA_ACCOUNT_BYTES: String(16 * MIB),
      LIMIT_MEDIA_UPLOADS: '2',
    },
  })
})
afterAll(() => relay.stop())

// Each test has new people, because each account has an upload quota.
async function meet(): Promise<void> {
  impostor = false
  lost = undefined
  beforeCompleting = undefined
  alice = await Person.join('alice', relay.url, {
    secrets: keyVault(noise(32)),
    fetch: async (url, init) => {
      requests.push(`${init.method} ${new URL(url).pathname}`)
      token = new Headers(init.headers).get('authorization') ?? token
      if (lost === 'request' && url.includes('/chunk')) throw loseOnce()
      if (url.endsWith('/complete')) await beforeCompleting?.()
      const response = await fetch(url, init)
      if (lost === 'answer' && url.includes('/chunk')) throw loseOnce()
      if (!impostor || !url.includes('/users/')) return response
      const x25519_public_key = encodeBase64(new Uint8Array(32).fill(9))
      return Response.json({ ...(await response.json()), x25519_public_key })
    },
  })
  bob = await Person.join('bob', relay.url)
  await alice.befriend(bob)
  media = new Media(alice.client)
  requests.length = 0
}

afterEach(async () => {
  await Promise.all([alice.client.close(), bob.client.close()])
})

async function clientErrorOf(work: Promise<unknown>): Promise<ClientError> {
  const error = await failureOf(work)
  if (error instanceof ClientError) return error
  throw error
}

/**
 * Waits until alice has ended the upload at the relay, and the relay stores this many files besides those
 * before. A chunk that arrives while the upload ends is deleted by the relay's next periodic check, so
 * files of an earlier upload may also go.
 */
async function untilNewFiles(before: readonly string[], count: number): Promise<void> {
  await until('alice has ended the upload at the relay', () =>
    requests.some((line) => line.startsWith('DELETE')),
  )
  await until(
    'the relay has deleted the upload’s files',
    async () => (await filesOf(relay.dataDir)).filter((path) => !before.includes(path)).length === count,
    90_000,
  )
}

test('an aborted upload fails at once, and the client ends it at the relay', async () => {
  await meet()
  const before = await filesOf(relay.dataDir)
  const ending = new AbortController()
  const reason = new Error('the user went away')
  const uploading = media.upload(bob.alias, noise(2 * CHUNK), {
    signal: ending.signal,
    onProgress: () => ending.abort(reason),
  })
  expect(await clientErrorOf(uploading)).toMatchObject({ code: 'ABORTED', cause: reason })
  await untilNewFiles(before, 0)
}, 120_000)

test('an upload that is aborted before or while it begins leaves no file', async () => {
  await meet()
  const before = await filesOf(relay.dataDir)
  expect(
    await clientErrorOf(media.upload(bob.alias, noise(9), { signal: AbortSignal.abort() })),
  ).toMatchObject({
    code: 'ABORTED',
  })
  expect(requests).toEqual([])
  // So small an upload would be complete before the abort, so its completion waits forever.
  beforeCompleting = () => new Promise(() => {})
  const ending = new AbortController()
  const uploading = clientErrorOf(media.upload(bob.alias, noise(9), { signal: ending.signal }))
  await until('the upload has begun', () => requests.some((line) => line.endsWith('/init')))
  ending.abort()
  expect(await uploading).toMatchObject({ code: 'ABORTED' })
  await untilNewFiles(before, 0)
}, 120_000)

test('a failing stream ends its upload, and an aborted upload cancels its stream', async () => {
  await meet()
  const before = await filesOf(relay.dataDir)
  const broken = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.error(new TypeError('the camera is gone')),
  })
  expect(await failureOf(media.upload(bob.alias, broken))).toMatchObject({
    message: expect.stringContaining('the camera is gone'),
  })
  await untilNewFiles(before, 0)

  let isCancelled = false
  const endless = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(noise(MIB)),
    cancel: () => {
      isCancelled = true
    },
  })
  const ending = new AbortController()
  const uploading = media.upload(bob.alias, endless, {
    signal: ending.signal,
    onProgress: () => ending.abort(),
  })
  expect(await clientErrorOf(uploading)).toMatchObject({ code: 'ABORTED' })
  expect(isCancelled).toBe(true)
}, 120_000)

test('an upload that is too large or exceeds the quota is refused with its code, and its space is freed', async () => {
  await meet()
  const before = await filesOf(relay.dataDir)
  expect(await clientErrorOf(media.upload(bob.alias, noise(13 * MIB)))).toMatchObject({
    code: 'REFUSED',
    refusal: 'PAYLOAD_TOO_LARGE',
  })
  await untilNewFiles(before, 0)
  await media.upload(bob.alias, noise(9 * MIB))
  expect(await clientErrorOf(media.upload(bob.alias, noise(9 * MIB)))).toMatchObject({
    code: 'REFUSED',
    refusal: 'STORAGE_FULL',
  })
  await untilNewFiles(before, 1)
  await media.upload(bob.alias, noise(6 * MIB))
}, 120_000)

test('the client uploads nothing for an unknown contact', async () => {
  await meet()
  expect(await clientErrorOf(media.sendVoice('nobody', noise(9), 1))).toMatchObject({
    code: 'UNKNOWN_CONTACT',
  })
  expect(requests.filter((line) => line.includes('/media/'))).toEqual([])
})

test('what is neither a Blob, bytes nor a stream is not sent, such as the path of a file', async () => {
  await meet()
  for (const wrong of ['./tea.txt', new ArrayBuffer(8), Readable.from(['tea']), undefined] as never[]) {
    const sending = media.sendFile(bob.alias, wrong, { name: 'tea.txt' })
    expect(await clientErrorOf(sending)).toMatchObject({ code: 'INVALID_ARGUMENT' })
    expect(await clientErrorOf(media.sendVoice(bob.alias, wrong, 1500))).toMatchObject({
      code: 'INVALID_ARGUMENT',
    })
  }
  expect(await alice.client.messages(bob.alias)).toEqual([])
})

test('a download fails if it is too large, aborted, deleted or named by an invalid key', async () => {
  await meet()
  const { mediaKey } = await media.upload(bob.alias, noise(CHUNK + 9))
  const theirs = new Media(bob.client)
  const { alias } = alice
  const download = (options = {}) => clientErrorOf(theirs.download(alias, { mediaKey }, options))
  expect(await download({ maxBytes: CHUNK })).toMatchObject({ code: 'MEDIA_TOO_LARGE' })
  const ending = new AbortController()
  const options = { signal: ending.signal, onProgress: () => ending.abort() }
  expect(await download(options)).toMatchObject({ code: 'ABORTED' })
  await alice.client.deleteAccount()
  expect(await download()).toMatchObject({ code: 'REFUSED', refusal: 'NOT_FOUND' })
  expect(await clientErrorOf(theirs.download(alice.alias, { mediaKey: 'no key' }))).toMatchObject({
    code: 'INVALID_ARGUMENT',
  })
}, 120_000)

test('locking a client ends its uploads and downloads', async () => {
  await meet()
  const { mediaKey } = await media.upload(bob.alias, noise(CHUNK + 9))
  const lockOnce = { onProgress: () => alice.client.lock() }
  expect(await clientErrorOf(media.upload(bob.alias, noise(2 * CHUNK), lockOnce))).toMatchObject({
    code: 'LOCKED',
  })
  await alice.client.unlock()
  expect(await clientErrorOf(media.download(bob.alias, { mediaKey }, lockOnce))).toMatchObject({
    code: 'LOCKED',
  })
}, 120_000)

test('after a contact’s keys change, the client ends its upload and refuses its download', async () => {
  await meet()
  const { mediaKey } = await media.upload(bob.alias, noise(9))
  const change = async (): Promise<void> => {
    impostor = true
    await alice.client.lookUpUser(bob.alias)
  }
  // The client refuses to upload the next chunk after the change.
  const slow = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (requests.some((line) => line.endsWith('/chunk'))) await change()
      controller.enqueue(noise(CHUNK))
    },
  })
  expect(await clientErrorOf(media.upload(bob.alias, slow))).toMatchObject({ code: 'KEY_CHANGED' })
  expect(await clientErrorOf(media.download(bob.alias, { mediaKey }))).toMatchObject({ code: 'KEY_CHANGED' })
}, 120_000)

test('the client sends a lost chunk again, and does not send a chunk again if only the answer was lost', async () => {
  for (const [half, sent] of [
    ['answer', 2],
    ['request', 3],
  ] as const) {
    await meet()
    lost = half
    const { mediaKey } = await media.upload(bob.alias, noise(CHUNK + 9))
    const parts = requests.filter((line) => line.endsWith('/chunk'))
    const queries = requests.filter((line) => /^GET .*upload-parts/.test(line))
    expect([parts.length, queries.length]).toEqual([sent, 1])
    const { isProven, sizeBytes } = await new Media(bob.client).download(alice.alias, { mediaKey })
    expect([isProven, sizeBytes]).toEqual([true, CHUNK + 9])
  }
}, 120_000)

test('an upload whose chunks the relay has lost restarts once, if its source can be read again', async () => {
  const bytes = noise(CHUNK + 9)
  const file = (): Blob => new Blob([bytes])
  for (const { source, times, ends } of [
    { source: file(), times: 1, ends: 'done' },
    { source: file(), times: 2, ends: 'PARTS_MISMATCH' },
    { source: file().stream(), times: 1, ends: 'PARTS_MISMATCH' },
  ]) {
    await meet()
    const before = await filesOf(relay.dataDir)
    // A power cut can leave the relay's file of chunks too short.
    let powerCuts = 0
    beforeCompleting = async () => {
      if (powerCuts === times) return
      powerCuts += 1
      const [run] = (await filesOf(relay.dataDir)).filter((path) => !before.includes(path))
      await truncate(run ?? '', 100)
    }
    const done = await media.upload(bob.alias, source).catch((error: ClientError) => error)
    if (done instanceof ClientError) {
      expect<string | undefined>(done.refusal).toBe(ends)
      await untilNewFiles(before, 0)
    } else {
      expect(ends).toBe('done')
      const { data, isProven } = await new Media(bob.client).download(alice.alias, done)
      expect([isProven, Buffer.compare(new Uint8Array(await data.arrayBuffer()), bytes)]).toEqual([true, 0])
      expect(requests.filter((line) => line.startsWith('DELETE'))).toHaveLength(1)
    }
    expect(powerCuts).toBe(times)
    await Promise.all([alice.client.close(), bob.client.close()])
  }
}, 120_000)

test('the client renews a token that is revoked during a transfer', async () => {
  await meet()
  const revoke = async (): Promise<void> => {
    const headers = { authorization: token }
    await fetch(`${relay.url}/api/v1/auth/logout`, { method: 'POST', headers })
  }
  let revocations = 0
  const source = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (revocations === 2) return controller.close()
      await revoke()
      revocations += 1
      controller.enqueue(noise(CHUNK))
    },
  })
  const { mediaKey, sizeBytes } = await media.upload(bob.alias, source)
  expect(sizeBytes).toBe(2 * CHUNK)
  await revoke()
  expect((await media.download(bob.alias, { mediaKey })).sizeBytes).toBe(2 * CHUNK)
}, 120_000)
