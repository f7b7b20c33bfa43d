// What a relay bounds, with real clients: they keep what it refuses for now, and send it again until there is
// room.
import { Database } from 'bun:sqlite'
import { expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { failureOf } from '../../protocol/test/failure-of.ts'
import { bytesLeftIn } from '../src/client.ts'
import { until } from './people.ts'
import { PeopleWorld } from './people-world.ts'

setDefaultTimeout(240_000)

const world = new PeopleWorld({ LIMIT_MAILBOX_RETRACTIONS: '10', LIMIT_SENT_IDS_PER_DAY: '100' })

test('retractions that have no room yet are sent again, and all arrive', async () => {
  const [alice, bob] = await world.friends()
  const texts = ['one', 'two', 'three', 'four']
  for (const text of texts) {
    const { id } = await alice.client.send(bob.alias, text)
    await alice.sees(bob.alias, id, 'delivered')
  }
  bob.client.disconnect()
  for (const { id } of await alice.client.messages(bob.alias)) await alice.client.retract(bob.alias, id)
  const waiting = () => alice.store.listRetractIntents()
  // A fifth of the ten that wait for an account may be of one conversation.
  await until('the relay has taken two', async () => (await waiting()).length === 2)
  await bob.connect()
  await until('all retractions have arrived', () => bob.heard.retracted.length === texts.length)
  await until('the relay has acknowledged all', async () => (await waiting()).length === 0)
  expect(await bob.transcript(alice.alias)).toEqual(texts.map(() => 'them: (retracted)'))
})

test('a message is sent if there is room for it, and refused if it is one byte too long', async () => {
  const [alice, bob] = await world.friends()
  const { id } = await alice.client.send(bob.alias, 'The longest?')
  for (const options of [{}, { replyToId: id }]) {
    const longest = 'x'.repeat(bytesLeftIn('', options))
    expect(bytesLeftIn(longest, options)).toBe(0)
    await alice.client.send(bob.alias, longest, options)
    await bob.receives(longest)
    expect(bytesLeftIn(`${longest}x`, options)).toBe(-1)
    expect(await failureOf(alice.client.send(bob.alias, `${longest}x`, options))).toMatchObject({
      code: 'MESSAGE_TOO_LARGE',
    })
  }
  expect(bytesLeftIn('')).toBeLessThan(49_152)
  expect(bytesLeftIn('ب')).toBe(bytesLeftIn('') - 2)
})

test('a friend list of several pages is fetched whole', async () => {
  const [alice, bob] = await world.friends()
  const database = new Database(join(world.relay.dataDir, 'sotto.db'))
  database.transaction(() => {
    database.run(`WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 1200)
      INSERT INTO accounts (uuid, alias_id, nickname, ed25519_public_key, x25519_public_key, created_at)
      SELECT 'stranger' || n, 'stranger' || n, 'n', printf('%08d', n) || '${'A'.repeat(35)}=',
        '${'A'.repeat(43)}=', 0 FROM n`)
    database.run(
      `INSERT INTO friendships (low_id, high_id, requester_id, recipient_id, status, created_at, changed_at)
       SELECT alice.id, stranger.id, stranger.id, alice.id, 'pending', 0, 0
       FROM accounts AS alice JOIN accounts AS stranger ON stranger.uuid LIKE 'stranger%' WHERE alice.alias_id = ?`,
      [alice.alias],
    )
  })()
  database.close()
  const list = await alice.client.syncFriends()
  expect(list.length).toBe(1201)
  expect(list.filter(({ status }) => status === 'accepted')).toMatchObject([{ alias_id: bob.alias }])
})

test('a message beyond those of a day stays, and the application hears once how long', async () => {
  const [alice, bob] = await world.friends()
  await world.relay.letPass(0) // Stops its clock, so that no other day begins meanwhile.
  for (let n = 1; n <= 102; n += 1) await alice.client.send(bob.alias, `message ${n}`)
  const [error] = await until(
    'alice hears that the relay takes no more for now',
    () => alice.heard.error.length > 0 && alice.heard.error,
  )
  expect(error).toMatchObject({ code: 'REFUSED', refusal: 'RATE_LIMITED', retryAfterMs: expect.any(Number) })
  await bob.receives('message 100')
  // Bob may have the last one before alice has heard that the relay has it.
  await until('only two are left', async () => (await alice.client.countUnsent()) === 2)
  expect(alice.heard.error).toHaveLength(1)
})
