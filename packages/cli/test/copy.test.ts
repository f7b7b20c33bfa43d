// sotto copy: a relay with everything is moved from SQLite into PostgreSQL, also after kills, and serves the
// same accounts there; and the wrong calls.
import { afterEach, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { tellRelay } from '@sotto/relay'
import { type RelayProcess, startRelay } from '@sotto/relay/testing'
import { befriend, message, type WireAccount, wireAccount, wireFriends } from '@sotto/relay/testing/wire'
import { SQL } from 'bun'
import { swiftEnvironment } from '../../relay/test/media-stores.ts'
import { bytesOf, MediaAccount, noise, PART_BYTES } from '../../relay/test/media-wire.ts'
import { startPostgres } from '../../relay/test/postgres-server.ts'
import { randomOf } from '../../relay/test/seeded-random.ts'
import { expectRefused, mainFile, sottoWith } from './run-sotto.ts'

setDefaultTimeout(240_000)

/** What decides when a copy is killed. */
const SEED = 17
/** Orders are paid by hand. */
const BY_HAND = { MANUAL_PAY_TO: 'the till' }

const endings: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end()
})

async function relayOn(env: Record<string, string> = {}): Promise<RelayProcess> {
  const relay = await startRelay({ env })
  endings.push(() => relay.stop())
  return relay
}

async function emptyDatabase(): Promise<string> {
  const server = await startPostgres()
  endings.push(() => server.stop())
  return await server.createDatabase()
}

async function query(url: string, text: string): Promise<unknown> {
  await using database = new SQL({ url, adapter: 'postgres', max: 1 })
  return await database.unsafe(text)
}

/**
 * Runs `sotto copy` and kills it after this many lines. @returns its lines; all of them if it ended before
 */
async function killAfter(lines: number, settings: Record<string, string>): Promise<string[]> {
  const child = Bun.spawn([process.execPath, mainFile, 'copy'], {
    ...{ cwd: import.meta.dir, env: { PATH: process.env.PATH ?? '', ...settings } },
    ...{ stdin: 'ignore', stdout: 'pipe', stderr: 'inherit' },
  })
  const decoder = new TextDecoder()
  let output = ''
  for await (const piece of child.stdout) {
    output += decoder.decode(piece, { stream: true })
    if (output.split('\n').length > lines) child.kill('SIGKILL')
  }
  await child.exited
  return output.split('\n').slice(0, -1)
}

/** What every account of a relay knows before it is moved. */
async function populated(relay: RelayProcess) {
  const operate = { DATA_DIR: relay.dataDir }
  const { alice, bob, conv } = await wireFriends(relay.url)
  const sender = (await alice.online()).socket
  for (const id of ['read', 'waits-1', 'waits-2', 'taken-back']) {
    sender.send(message(bob.alias, conv, id, id))
    await sender.next('ack')
  }
  sender.send({ type: 'retract', to: bob.alias, conv_id: conv, id: 'taken-back' })
  await sender.untilPong()
  await sender.close()
  // Bob confirms while Alice is away, so that she must still be told.
  const reader = (await bob.online()).socket
  reader.send({ type: 'delivered', to: alice.alias, conv_id: conv, seq: 1 })
  reader.send({ type: 'read', to: alice.alias, conv_id: conv, seq: 1 })
  await reader.untilPong()
  await reader.close()
  const cleo = await wireAccount(relay.url, 'Cleo')
  const request = await cleo.post('/friends/request', { to_alias_id: alice.alias })
  const dan = await wireAccount(relay.url, 'Dan')
  await bob.bare('PUT', `/blocks/${dan.alias}`)
  const channel = (await alice.post('/channels', { name: 'Harbour' })).body.channel_id
  await bob.bare('POST', `/channels/${channel}/subscribe`)
  const post = (await alice.post(`/channels/${channel}/posts`, { content: 'low tide' })).body.post_id
  const order = (await alice.post('/vanity/purchase', { alias_id: 'harbour_pilot' })).body.order_id
  const { code } = await tellRelay(operate, 'invites.make', { uses: 1, days: 7, note: 'for Eve' })
  await bob.report({ about: 'channel', channel_id: channel, reason: 'spam' })
  const spammer = await wireAccount(relay.url, 'Spam')
  const suspension = { alias_id: spammer.alias, who: 'ops', why: 'spam' }
  await tellRelay(operate, 'accounts.suspend', suspension)
  const media = await MediaAccount.make(relay.url)
  const blobs = [noise(70_000), noise(PART_BYTES + 1000)]
  const [small, large] = [blobs[0] ?? noise(1), blobs[1] ?? noise(1)]
  const keys = [
    await media.upload(small),
    await media.upload(large.slice(0, PART_BYTES), large.slice(PART_BYTES)),
  ]
  return {
    ...{ alice, bob, cleo, dan, spammer, conv, request: request.body, channel, post, order, code },
    ...{ media, blobs, keys },
  }
}

type Everything = Awaited<ReturnType<typeof populated>>

/** Expects that the same people find all of it, with the tokens they had, and that numbers go on. */
async function expectServed(relay: RelayProcess, known: Everything): Promise<void> {
  const { alice, bob, cleo, dan, spammer, media, conv, channel } = known
  for (const account of [alice, bob, cleo, dan, spammer, media.account])
    Object.assign(account, { base: relay.url })
  const friends = (await alice.get('/friends')).body
  expect(friends).toMatchObject([{ alias_id: bob.alias }, { alias_id: cleo.alias, status: 'pending' }])
  expect((await bob.get('/blocks')).body).toMatchObject([{ alias_id: dan.alias }])
  expect((await alice.bare('PUT', `/friends/${known.request.friendship_id}/accept`)).status).toBe(200)
  const atSea = await befriend(cleo, dan) // A new row: its number is not one of those that were copied.
  expect([conv, (await alice.get('/friends')).body[1].conversation_id]).not.toContain(atSea)
  const { socket: alices, backlog: marks } = await alice.online()
  expect(marks).toContainEqual(expect.objectContaining({ type: 'read', conv_id: conv, seq: 1 }))
  const { socket: bobs, backlog } = await bob.online()
  expect(backlog.filter(({ type }) => type === 'msg')).toMatchObject([
    { id: 'waits-1', seq: 2, from: alice.alias },
    { id: 'waits-2', seq: 3 },
  ])
  expect(backlog.find(({ type }) => type === 'retract')).toMatchObject({ id: 'taken-back' })
  alices.send(message(bob.alias, conv, 'after the move', 'new'))
  const { seq } = await alices.next('ack')
  expect(seq).toBeGreaterThan(4)
  expect(await bobs.next('msg')).toMatchObject({ id: 'new', seq })
  alices.send(message(bob.alias, conv, 'waits-1', 'waits-1')) // Once more, after a lost answer.
  expect(await alices.next('ack')).toMatchObject({ id: 'waits-1', seq: 2 })
  const posts = (await bob.get(`/channels/${channel}/posts`)).body
  expect(JSON.stringify(posts)).toContain(known.post)
  await alice.post(`/channels/${channel}/posts`, { content: 'high tide' })
  const found = await bob.get('/channels/search?q=harbour')
  expect(JSON.stringify(found.body)).toContain(channel)
  const by = { who: 'ops', why: 'it is in the till' }
  const operate = { DATA_DIR: relay.dataDir }
  await tellRelay(operate, 'orders.confirm', { order_id: known.order, ...by })
  expect(await alices.next('payment_confirmed')).toMatchObject({ ref_id: 'harbour_pilot' })
  expect((await alice.post('/vanity/bind', { order_id: known.order })).status).toBe(200)
  expect(await tellRelay(operate, 'invites.list', {})).toMatchObject([{ note: 'for Eve', state: 'open' }])
  expect(await tellRelay(operate, 'reports.list', {})).toMatchObject([{ reporter: bob.alias }])
  expect((await spammer.get('/me')).body).toMatchObject({ error: 'TOKEN_DEAD' })
  for (const [index, key] of known.keys.entries()) {
    const response = await media.download(key)
    const answer = response.status === 302 ? await fetch(response.headers.get('location') ?? '') : response
    expect(Buffer.from(await bytesOf(answer)).equals(known.blobs[index] ?? noise(1))).toBe(true)
  }
  await alices.close()
  await bobs.close()
}

test('a relay with everything is copied, killed at random moments, and serves the same accounts from PostgreSQL and a bucket', async () => {
  const source = await relayOn(BY_HAND)
  const known = await populated(source)
  const underWay = await known.media.begin()
  await known.media.put(underWay, 1, noise(1000))
  const bucket = await swiftEnvironment()
  const settings = { DATA_DIR: source.dataDir, DATABASE_URL: await emptyDatabase(), ...bucket }
  expectRefused(
    await sottoWith(settings, 'copy'),
    `${source.dataDir} is in use by another relay; stop it first`,
  )
  await source.kill('SIGKILL')
  const random = randomOf(SEED)
  let said = ''
  for (let round = 0; round < 4; round++) {
    const lines = await killAfter(random(16), settings)
    said += lines.join('\n')
    if (said.includes('Start the relay')) break // It was quicker than the kill.
    const { code, errors } = await sottoWith({ ...settings, PORT: '0' }, 'serve')
    expect([code, errors]).toEqual([1, expect.stringContaining('sotto copy')])
  }
  const done = await sottoWith(settings, 'copy')
  expect(done).toMatchObject({ code: 0, errors: '' })
  said += done.output
  expect(said).toContain('messages: the same on both sides, 3 rows')
  expect(said).toContain('Start the relay with this DATABASE_URL.')
  const again = await sottoWith(settings, 'copy')
  expect(again.output).toContain('This store was copied into this PostgreSQL before.')

  const old = await sottoWith({ DATA_DIR: source.dataDir, PORT: '0' }, 'serve')
  expect(old).toMatchObject({
    code: 1,
    errors: expect.stringContaining('its accounts live on; set DATABASE_URL'),
  })
  const orders = await sottoWith({ DATA_DIR: source.dataDir }, 'orders', 'list')
  expect(orders).toMatchObject({ code: 1, errors: expect.stringContaining('was copied into PostgreSQL') })
  const doctor = await sottoWith({ DATA_DIR: source.dataDir }, 'doctor')
  expect(doctor.output).toContain('was copied into PostgreSQL')

  // The folder is not there any more: everything is in PostgreSQL and in the bucket.
  await rm(join(source.dataDir, 'media'), { recursive: true })
  const moved = await relayOn({ ...BY_HAND, DATABASE_URL: settings.DATABASE_URL, ...bucket })
  await expectServed(moved, known)
  // Its parts were files of the folder, so it ends, and its client begins again.
  while ((await known.media.listParts(underWay)).status === 200) await moved.maintain()
  expect((await known.media.listParts(underWay)).status).toBe(404)
  expect((await known.media.download(await known.media.upload(noise(1000)))).ok).toBe(true)
})

test('media that stay in a shared folder are served from there; a blob that is missing is noticed', async () => {
  const source = await relayOn()
  const media = await MediaAccount.make(source.url)
  const [first, second] = [noise(3000), noise(4000)]
  const keys = [await media.upload(first), await media.upload(second)]
  await source.kill('SIGTERM')
  const shared = join(source.dataDir, 'media')
  const settings = { DATA_DIR: source.dataDir, DATABASE_URL: await emptyDatabase() }
  const elsewhere = await mkdtemp(join(tmpdir(), 'sotto-nowhere-'))
  endings.push(() => rm(elsewhere, { recursive: true }))
  expectRefused(
    await sottoWith({ ...settings, MEDIA_DIR: elsewhere }, 'copy'),
    `blobs of media are missing in ${elsewhere}: 2; correct MEDIA_DIR, or leave them out with --skip-missing`,
  )
  const done = await sottoWith(settings, 'copy')
  expect(done.output).toContain(
    `Blobs of media: 2; they stay in ${shared}, which every node needs as its MEDIA_DIR.`,
  )
  const moved = await relayOn({ DATABASE_URL: settings.DATABASE_URL, MEDIA_DIR: shared })
  Object.assign(media.account, { base: moved.url })
  expect(await bytesOf(await media.download(keys[1] ?? ''))).toEqual(second)
})

test('a copy that was finished is taken back, and numbers go on far ahead', async () => {
  const source = await relayOn()
  const { alice, bob, conv } = await wireFriends(source.url)
  const send = async (account: WireAccount, id: string): Promise<number> => {
    const socket = await account.connect()
    socket.send(message(bob.alias, conv, id, id))
    const { seq } = await socket.next('ack')
    await socket.close()
    return seq
  }
  expect(await send(alice, 'm1')).toBe(1)
  await source.kill('SIGTERM')
  const settings = { DATA_DIR: source.dataDir, DATABASE_URL: await emptyDatabase() }
  expectRefused(
    await sottoWith({ DATA_DIR: source.dataDir }, 'copy'),
    'DATABASE_URL is not set; it names the empty PostgreSQL database to copy into',
  )
  expectRefused(
    await sottoWith(settings, 'copy', '--take-back'),
    'the store in DATA_DIR is not being copied and was not copied',
  )
  expect(await sottoWith(settings, 'copy')).toMatchObject({ code: 0 })
  await query(settings.DATABASE_URL, "UPDATE accounts SET nickname = 'since then'")
  expectRefused(
    await sottoWith({ DATA_DIR: source.dataDir }, 'copy', '--take-back'),
    'DATABASE_URL is not set, but the copy must be made unusable; if it no longer exists, say so with --database-lost',
  )
  expect(await sottoWith(settings, 'copy', '--take-back')).toEqual({
    code: 0,
    errors: '',
    output: `The store in ${source.dataDir} can be used again. It has nothing of what reached the relay in PostgreSQL since.\n`,
  })
  const copy = await sottoWith({ ...settings, PORT: '0' }, 'serve')
  expect(copy).toMatchObject({ code: 1, errors: expect.stringContaining('was given up by') })
  expect((await sottoWith(settings, 'doctor')).output).toContain('was given up by')
  await source.start()
  expect(await send(alice, 'm2')).toBe(1_000_002)
})

test('a target with other tables, or that is not there, is named in one sentence', async () => {
  const source = await relayOn()
  await source.kill('SIGTERM')
  const url = await emptyDatabase()
  await query(url, 'CREATE TABLE notes (id integer)')
  const settings = { DATA_DIR: source.dataDir, DATABASE_URL: url }
  expectRefused(
    await sottoWith(settings, 'copy'),
    'the PostgreSQL of DATABASE_URL has tables already, and they are no copy of this store that could go on; name an empty database',
  )
  const gone = await sottoWith({ ...settings, DATABASE_URL: url.replace(/\/[^/]*$/, '/nowhere') }, 'copy')
  expect(gone).toMatchObject({
    code: 1,
    errors: expect.stringContaining('database "nowhere" does not exist'),
  })
  const empty = await mkdtemp(join(tmpdir(), 'sotto-empty-'))
  endings.push(() => rm(empty, { recursive: true }))
  expectRefused(
    await sottoWith({ ...settings, DATA_DIR: empty }, 'copy'),
    `${empty} holds no store of a relay`,
  )
  expect((await sottoWith(settings, 'copy', '--database-lost')).code).toBe(2)
  await source.start() // Nothing was marked.
})
