// Media that do not go: ended by the caller, no room, no right, no key; each says so and leaves nothing.
import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { truncate } from 'node:fs/promises'
import { encodeBase64 } from '@sotto/crypto'
import { type RelayProcess, startRelay } from '@sotto/relay/testing'
import { ClientError, keyVault, Media } from '../src/client.ts'
import { filesOf, MIB, noise } from './media-world.ts'
import { Person, until } from './people.ts'

const CHUNK = 5 * MIB

let relay: RelayProcess
let alice: Person
let bob: Person
let media: Media
/** What alice asked for. */
const asked: string[] = []
let token = ''
/** What of the next part is lost on its way. */
let lost: 'question' | 'answer' | undefined
function loss(): TypeError {
  lost = undefined
  return new TypeError('the network is gone')
}
/** What happens at the relay before it is asked to complete an upload. */
let beforeCompleting: (() => Promise<void>) | undefined
/** Whether the relay gives other keys for whom alice looks up. */
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

// People of their own for each test: what one of them uploads takes their room.
async function meet(): Promise<void> {
  impostor = false
  lost = undefined
  beforeCompleting = undefined
  alice = await Person.join('alice', relay.url, {
    secrets: keyVault(noise(32)),
    fetch: async (url, init) => {
      asked.push(`${init.method} ${new URL(url).pathname}`)
      token = new Headers(init.headers).get('authorization') ?? token
      if (lost === 'question' && url.includes('/chunk')) throw loss()
      if (url.endsWith('/complete')) await beforeCompleting?.()
      const response = await fetch(url, init)
      if (lost === 'answer' && url.includes('/chunk')) throw loss()
      if (!impostor || !url.includes('/users/')) return response
      const x25519_public_key = encodeBase64(new Uint8Array(32).fill(9))
      return Response.json({ ...(await response.json()), x25519_public_key })
    },
  })
  bob = await Person.join('bob', relay.url)
  await alice.befriend(bob)
  media = new Media(alice.client)
  asked.length = 0
}

afterEach(async () => {
  await Promise.all([alice.client.close(), bob.client.close()])
})

async function failureOf(work: Promise<unknown>): Promise<ClientError> {
  const error = await work.then(
    () => undefined,
    (error: unknown) => error,
  )
  if (error instanceof ClientError) return error
  throw error ?? new Error('it was done')
}

/** Nothing is under way, and only so many files are kept: a part that came in while the upload was given up goes with the relay's next round. */
async function nothingLeftBut(files: number): Promise<void> {
  await until('the upload is given up', () => asked.some((line) => line.startsWith('DELETE')))
  await until('its bytes are gone', async () => (await filesOf(relay.dataDir)).length === files, 90_000)
}

test('an upload that is ended says so at once, and is given up at the relay', async () => {
  await meet()
  const before = (await filesOf(relay.dataDir)).length
  const ending = new AbortController()
  const reason = new Error('the user went away')
  const uploading = media.upload(bob.alias, noise(2 * CHUNK), {
    signal: ending.signal,
    onProgress: () => ending.abort(reason),
  })
  expect(await failureOf(uploading)).toMatchObject({ code: 'ABORTED', cause: reason })
  await nothingLeftBut(before)
}, 120_000)

test('one that is ended before it begins, or as it begins, leaves nothing either', async () => {
  await meet()
  const before = (await filesOf(relay.dataDir)).length
  expect(await failureOf(media.upload(bob.alias, noise(9), { signal: AbortSignal.abort() }))).toMatchObject({
    code: 'ABORTED',
  })
  expect(asked).toEqual([])
  // So few bytes would be there before it is ended.
  beforeCompleting = () => new Promise(() => {})
  const ending = new AbortController()
  const uploading = failureOf(media.upload(bob.alias, noise(9), { signal: ending.signal }))
  await until('it is begun', () => asked.some((line) => line.endsWith('/init')))
  ending.abort()
  expect(await uploading).toMatchObject({ code: 'ABORTED' })
  await nothingLeftBut(before)
}, 120_000)

test('a stream that fails ends its upload, and one that is ended is no longer read', async () => {
  await meet()
  const before = (await filesOf(relay.dataDir)).length
  const broken = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.error(new TypeError('the camera is gone')),
  })
  await expect(media.upload(bob.alias, broken)).rejects.toThrow('the camera is gone')
  await nothingLeftBut(before)

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
  expect(await failureOf(uploading)).toMatchObject({ code: 'ABORTED' })
  expect(isCancelled).toBe(true)
}, 120_000)

test('what is too large, or finds no room, is refused by name, and its room is free again', async () => {
  await meet()
  const before = (await filesOf(relay.dataDir)).length
  expect(await failureOf(media.upload(bob.alias, noise(13 * MIB)))).toMatchObject({
    code: 'REFUSED',
    refusal: 'PAYLOAD_TOO_LARGE',
  })
  await nothingLeftBut(before)
  await media.upload(bob.alias, noise(9 * MIB))
  expect(await failureOf(media.upload(bob.alias, noise(9 * MIB)))).toMatchObject({
    code: 'REFUSED',
    refusal: 'STORAGE_FULL',
  })
  await nothingLeftBut(before + 1)
  await media.upload(bob.alias, noise(6 * MIB))
}, 120_000)

test('for a stranger nothing is uploaded', async () => {
  await meet()
  expect(await failureOf(media.sendVoice('nobody', noise(9), 1))).toMatchObject({ code: 'UNKNOWN_CONTACT' })
  expect(asked.filter((line) => line.includes('/media/'))).toEqual([])
})

test('a download can be limited, ended, and told that the blob is gone', async () => {
  await meet()
  const { mediaKey } = await media.upload(bob.alias, noise(CHUNK + 9))
  const theirs = new Media(bob.client)
  const { alias } = alice
  const download = (options = {}) => failureOf(theirs.download(alias, { mediaKey }, options))
  expect(await download({ maxBytes: CHUNK })).toMatchObject({ code: 'MEDIA_TOO_LARGE' })
  const ending = new AbortController()
  const options = { signal: ending.signal, onProgress: () => ending.abort() }
  expect(await download(options)).toMatchObject({ code: 'ABORTED' })
  await alice.client.deleteAccount()
  expect(await download()).toMatchObject({ code: 'REFUSED', refusal: 'NOT_FOUND' })
  expect(await failureOf(theirs.download(alice.alias, { mediaKey: 'no key' }))).toMatchObject({
    code: 'INVALID_ARGUMENT',
  })
}, 120_000)

test('a client that is locked ends what is under way, in both directions', async () => {
  await meet()
  const { mediaKey } = await media.upload(bob.alias, noise(CHUNK + 9))
  const lockOnce = { onProgress: () => alice.client.lock() }
  expect(await failureOf(media.upload(bob.alias, noise(2 * CHUNK), lockOnce))).toMatchObject({
    code: 'LOCKED',
  })
  await alice.client.unlock()
  expect(await failureOf(media.download(bob.alias, { mediaKey }, lockOnce))).toMatchObject({ code: 'LOCKED' })
}, 60_000)

test('a contact whose keys change is sent nothing more, and nothing of theirs is read', async () => {
  await meet()
  const { mediaKey } = await media.upload(bob.alias, noise(9))
  const change = async (): Promise<void> => {
    impostor = true
    await alice.client.lookUpUser(bob.alias)
  }
  // The chunk after the change is refused, whenever the change comes.
  const slow = new ReadableStream<Uint8Array>({
    async pull(controller) {
      controller.enqueue(noise(CHUNK))
      if (asked.some((line) => line.endsWith('/chunk'))) await change()
    },
  })
  expect(await failureOf(media.upload(bob.alias, slow))).toMatchObject({ code: 'KEY_CHANGED' })
  expect(await failureOf(media.download(bob.alias, { mediaKey }))).toMatchObject({ code: 'KEY_CHANGED' })
}, 120_000)

test('a part whose answer was lost is not sent again, and one that was lost is, as it was', async () => {
  for (const [what, sent] of [
    ['answer', 2],
    ['question', 3],
  ] as const) {
    await meet()
    lost = what
    const { mediaKey } = await media.upload(bob.alias, noise(CHUNK + 9))
    const parts = asked.filter((line) => line.endsWith('/chunk'))
    const looks = asked.filter((line) => /^GET .*upload-parts/.test(line))
    expect([parts.length, looks.length]).toEqual([sent, 1])
    const { isProven, sizeBytes } = await new Media(bob.client).download(alice.alias, { mediaKey })
    expect([isProven, sizeBytes]).toEqual([true, CHUNK + 9])
  }
}, 60_000)

test('an upload whose parts the relay has lost begins anew, once, where its source can be read again', async () => {
  const bytes = noise(CHUNK + 9)
  const file = (): Blob => new Blob([bytes])
  for (const { source, times, ends } of [
    { source: file(), times: 1, ends: 'done' },
    { source: file(), times: 2, ends: 'PARTS_MISMATCH' },
    { source: file().stream(), times: 1, ends: 'PARTS_MISMATCH' },
  ]) {
    await meet()
    const before = await filesOf(relay.dataDir)
    // A power cut leaves a file of parts shorter than it was.
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
      await nothingLeftBut(before.length)
    } else {
      expect(ends).toBe('done')
      const { data, isProven } = await new Media(bob.client).download(alice.alias, done)
      expect([isProven, Buffer.compare(new Uint8Array(await data.arrayBuffer()), bytes)]).toEqual([true, 0])
      expect(asked.filter((line) => line.startsWith('DELETE'))).toHaveLength(1)
    }
    expect(powerCuts).toBe(times)
    await Promise.all([alice.client.close(), bob.client.close()])
  }
}, 120_000)

test('a token that dies on the way is renewed', async () => {
  await meet()
  const kill = async (): Promise<void> => {
    const headers = { authorization: token }
    await fetch(`${relay.url}/api/v1/auth/logout`, { method: 'POST', headers })
  }
  let kills = 0
  const dying = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (kills === 2) return controller.close()
      await kill()
      kills += 1
      controller.enqueue(noise(CHUNK))
    },
  })
  const { mediaKey, sizeBytes } = await media.upload(bob.alias, dying)
  expect(sizeBytes).toBe(2 * CHUNK)
  await kill()
  expect((await media.download(bob.alias, { mediaKey })).sizeBytes).toBe(2 * CHUNK)
}, 120_000)
