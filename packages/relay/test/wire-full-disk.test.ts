// A disk that fills up: neither one account nor anything else that fills it stops messages and what frees
// space, and the relay notices space that comes back.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { expectProblem } from './expect.ts'
import { MediaAccount, noise, sendHalfPart } from './media-wire.ts'
import { eventually } from './payment-watch.ts'
import { type RelayProcess, startRelay } from './relay-process.ts'
import { mountSmallDisk, type SmallDisk } from './small-disk.ts'
import { untilLogged } from './until-logged.ts'
import { errorLines } from './use-relay.ts'
import { type Answer, call, message, WireAccount, type WireSocket, wireAccount, wireFriends } from './wire.ts'

setDefaultTimeout(240_000)

const MIB = 1024 * 1024
/** The disk, and the reserves that the relay works out from it: a tenth, and half of that. */
const DISK_MIB = 60
const RESERVE_BYTES = 6 * MIB
const LAST_RESERVE_BYTES = 3 * MIB

let disk: SmallDisk
let relay: RelayProcess
let alice: WireAccount
let bob: WireAccount
let conv: string
let sending: WireSocket
let receiving: WireSocket

beforeAll(async () => {
  disk = await mountSmallDisk(DISK_MIB)
  relay = await startRelay({ env: { DATA_DIR: disk.folder, LOG_LEVEL: 'info' } })
  const friends = await wireFriends(relay.url)
  ;({ alice, bob, conv } = friends)
  sending = (await alice.online()).socket
  receiving = (await bob.online()).socket
})

afterAll(async () => {
  await relay?.stop()
  await disk?.remove()
})

/** Sends a message and takes it at its recipient. */
async function exchange(text: string): Promise<number> {
  sending.send(message(bob.alias, conv, text))
  const { seq } = await sending.next('ack')
  expect((await receiving.next('msg')).seq).toBe(seq)
  return seq
}

function expectRefused(answer: Answer): void {
  expectProblem(answer, 507, 'RELAY_FULL')
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
}

/** The lines of the log with this event. */
function logged(event: string): Record<string, unknown>[] {
  const lines = relay
    .errors()
    .split('\n')
    .filter((line) => line.startsWith('{'))
  return lines.map((line) => JSON.parse(line)).filter((line) => line.event === event)
}

async function ready(): Promise<Record<string, unknown>> {
  const { status, body } = await call(`${relay.url}/ready`)
  return { ...body, code: status }
}

async function untilStorageIs(state: string): Promise<void> {
  await eventually(async () => expect(await ready()).toMatchObject({ code: 200, storage: state }))
}

test('one account fills what it can, and everyone else still writes', async () => {
  const mallory = await MediaAccount.make(relay.url)
  const upload = await mallory.begin()
  let refused: Answer | undefined
  for (let number = 1; refused === undefined && number <= DISK_MIB; number++) {
    const answer = await mallory.put(upload, number, noise(2 * MIB))
    if (answer.status !== 200) refused = answer
  }
  if (!refused) throw new Error('nothing was refused')
  expectRefused(refused)
  // Half of the disk is the budget of all media together.
  expect(await mallory.usedBytes()).toBeGreaterThan((DISK_MIB / 2 - 3) * MIB)
  expect(disk.freeBytes()).toBeGreaterThan((DISK_MIB / 2 - 10) * MIB)
  await eventually(() => expect(logged('media_total_reached')).toHaveLength(1))
  await exchange('while the disk has no space for media')
  await wireAccount(relay.url)
  expect((await mallory.abort(upload)).status).toBe(200)
  await eventually(async () => {
    const again = await mallory.begin()
    expect((await mallory.put(again, 1, noise(2 * MIB))).status).toBe(200)
    await mallory.abort(again)
  })
})

test('an upload that would not fit above the reserve is refused, and a smaller one is not', async () => {
  const account = await MediaAccount.make(relay.url)
  /** Uploads so many bytes and cancels. @returns the answer to the bytes */
  const tryOut = async (bytes: number): Promise<Answer> => {
    const upload = await account.begin()
    const answer = await account.put(upload, 1, noise(bytes))
    await account.abort(upload)
    return answer
  }
  disk.fillUpTo(RESERVE_BYTES + 2 * MIB)
  // Until the disk is read again, an upload may be taken. While it lasts, the disk may be read as short.
  await eventually(async () => {
    expectRefused(await tryOut(4 * MIB))
    expect(logged('media_refused')).toHaveLength(1)
  })
  // Until the disk is read again, what has just been uploaded counts twice.
  await eventually(async () => expect((await tryOut(1000)).status).toBe(200))
  disk.empty()
  await eventually(async () => expect((await tryOut(4 * MIB)).status).toBe(200))
})

test('below the reserve, what adds much is refused and messages are not', async () => {
  const before = await alice.post('/channels', { name: 'Before' })
  const posts = `/channels/${before.body.channel_id}/posts`
  const earlier = logged('storage_short').length
  await eventually(() => expect(logged('storage_has_space')).toHaveLength(earlier))
  disk.fillUpTo(RESERVE_BYTES - MIB)
  await untilStorageIs('short')

  expectRefused(await alice.post('/media/upload-parts/init', {}))
  expectRefused(await alice.post('/media/upload-url', {}))
  expectRefused(await alice.post('/channels', { name: 'After' }))
  expectRefused(await alice.post(posts, { content: 'a post' }))
  expectRefused(await alice.post('/push/subscribe', {}))
  expectRefused(await alice.post('/push/register', {}))
  const newcomer = new WireAccount(relay.url)
  expectRefused(await newcomer.register())
  // Who has an account still gets in.
  expectProblem(await alice.register(), 409, 'ACCOUNT_EXISTS', { uuid: alice.uuid, alias_id: alice.alias })
  await alice.login()
  await exchange('below the reserve')
  expect((await alice.post('/friends/request', { to_alias_id: bob.alias })).status).toBe(409)

  await eventually(() => expect(logged('storage_short')).toHaveLength(earlier + 1))
  const { freeBytes, mediaBytes, databaseBytes, otherBytes } = logged('storage_short').at(-1) ?? {}
  expect(Number(freeBytes)).toBeLessThan(RESERVE_BYTES)
  expect(mediaBytes).toBe(0)
  expect(Number(databaseBytes)).toBeGreaterThan(100_000)
  expect(Number(otherBytes)).toBeGreaterThan(30 * MIB)
  disk.empty()
  await untilStorageIs('ok')
  await eventually(() => expect(logged('storage_has_space')).toHaveLength(earlier + 1))
  expect((await newcomer.register()).status).toBe(201)
  expect((await alice.post(posts, { content: 'a post' })).status).toBe(200)
})

test('below the last reserve, nothing new is taken, and what frees space goes on', async () => {
  const channel = (await alice.post('/channels', { name: 'Full' })).body.channel_id
  const seq = await exchange('before')
  sending.send(message(bob.alias, conv, 'to be retracted', 'retracted'))
  await sending.next('ack')
  await receiving.next('msg')
  const earlier = logged('storage_has_space').length
  disk.fillUpTo(LAST_RESERVE_BYTES - MIB)
  await untilStorageIs('full')

  sending.send(message(bob.alias, conv, 'too late', 'late'))
  expect(await sending.next('error')).toMatchObject({
    error: 'RELAY_FULL',
    id: 'late',
    conv_id: conv,
    retry_after_ms: expect.any(Number),
  })
  // A known message is acknowledged again, and a retraction that would only add a row waits for space.
  sending.send(message(bob.alias, conv, 'to be retracted', 'retracted'))
  expect(await sending.next('ack')).toMatchObject({ id: 'retracted' })
  sending.send({ type: 'retract', id: 'unknown', to: bob.alias, conv_id: conv })
  expect(await sending.next('error')).toMatchObject({ error: 'RELAY_FULL', id: 'unknown' })
  expectRefused(await alice.post('/friends/request', { to_alias_id: 'nobody' }))
  expectRefused(await alice.post('/pow/challenge', {}))

  receiving.send({ type: 'read', conv_id: conv, seq, to: alice.alias })
  expect(await sending.next('read')).toMatchObject({ conv_id: conv, seq })
  sending.send({ type: 'retract', id: 'retracted', to: bob.alias, conv_id: conv })
  expect(await sending.next('retract_ack')).toMatchObject({ id: 'retracted' })
  expect(await receiving.next('retract')).toMatchObject({ id: 'retracted' })
  expect((await alice.bare('DELETE', `/channels/${channel}`)).status).toBe(200)
  await alice.login()
  sending = (await alice.online()).socket

  await eventually(() => expect(logged('storage_full')).toHaveLength(1))
  expect(logged('storage_full')[0]).toMatchObject({ level: 'error', otherBytes: expect.any(Number) })
  disk.empty()
  await eventually(async () => {
    sending.send(message(bob.alias, conv, 'too late', 'late'))
    expect(await sending.next()).toMatchObject({ type: 'ack', id: 'late' })
  })
  expect((await receiving.next('msg')).id).toBe('late')
  await untilStorageIs('ok')
  // The log has one line for each change, and none for the work that was refused.
  await eventually(() => expect(logged('storage_has_space')).toHaveLength(earlier + 1))
  expect(errorLines(relay.errors()).map((line) => JSON.parse(line).event)).toEqual(['storage_full'])
})

test('a disk without a byte left, whatever took it, answers RELAY_FULL and never INTERNAL', async () => {
  await using small = await mountSmallDisk(20)
  const bare = await startRelay({
    env: { DATA_DIR: small.folder, DISK_RESERVE_BYTES: '0', LOG_LEVEL: 'info' },
  })
  try {
    const { alice: anna, bob: ben, conv: theirs } = await wireFriends(bare.url)
    const { socket } = await anna.online()
    small.fillUpTo(0)
    const big = 'x'.repeat(40_000)
    let refused: Record<string, unknown> | undefined
    for (let sent = 0; refused === undefined && sent < 200; sent++) {
      socket.send(message(ben.alias, theirs, big, `m${sent}`))
      const answer = await socket.next()
      if (answer.type !== 'ack') refused = answer
    }
    expect(refused).toMatchObject({ type: 'error', error: 'RELAY_FULL', retry_after_ms: expect.any(Number) })
    // The database may empty its log, which makes space again.
    await eventually(async () => {
      small.fillUpTo(0)
      expectRefused(await anna.post('/channels', { name: 'Full' }))
      expect(await call(`${bare.url}/ready`)).toMatchObject({ status: 200, body: { storage: 'full' } })
    })
    small.empty()
    await eventually(async () => {
      socket.send(message(ben.alias, theirs, big, String(refused?.id)))
      expect(await socket.next()).toMatchObject({ type: 'ack', id: refused?.id })
    })
    await untilLogged(bare, 'storage_full')
    const failures = errorLines(bare.errors()).map((line) => JSON.parse(line).event)
    expect(new Set(failures)).toEqual(new Set(['storage_full']))
  } finally {
    await bare.stop()
  }
})

test('uploads that announce much and are refused, or break off, take no space from others', async () => {
  disk.empty()
  await untilStorageIs('ok')
  const [mallory, honest] = [await MediaAccount.make(relay.url), await MediaAccount.make(relay.url)]
  const missing = { upload_id: `up_${'x'.repeat(22)}`, media_key: `m_${'x'.repeat(22)}` }
  const { upload_url } = (await mallory.account.post('/media/upload-url', { size: 1 })).body
  const kept = await honest.begin()
  for (let number = 1; number <= 3; number++) {
    // Together they announce more than the disk has.
    for (let n = 0; n < 15; n++) expect((await mallory.put(missing, 1, noise(4 * MIB))).status).toBe(404)
    for (let n = 0; n < 15; n++) {
      const { status } = await call(upload_url, { method: 'PUT', body: noise(4 * MIB) })
      expect(status).toBe(400)
    }
    const upload = await mallory.begin()
    for (let n = 1; n <= 10; n++) (await sendHalfPart(mallory, upload, n)).destroy()
    await eventually(async () => expect(await mallory.usedBytes()).toBe(1)) // The room of the link.
    expect((await honest.put(kept, number, noise(MIB))).status).toBe(200)
    expect((await mallory.abort(upload)).status).toBe(200)
  }
  await honest.abort(kept)
})
