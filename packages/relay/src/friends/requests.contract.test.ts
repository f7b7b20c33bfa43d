// Friend requests on every engine: how many an account can receive, how the list is paged, and how long a
// refusal is remembered.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { AliasId, check, defaultLimits, type FriendProfile, ProtocolError } from '@sotto/protocol'
import { engines, type TestStore } from '../../test/engines.ts'
import { clockAt, type Person } from '../../test/mailbox-world.ts'
import { addAccount, findAccountByAlias } from '../accounts/accounts.ts'
import { systemRandom } from '../operations/random.ts'
import {
  acceptFriendship,
  blockAccount,
  forgetRejections,
  rejectFriendship,
  removeFriendship,
  requestFriendship,
} from './friendships.ts'
import { listFriends, pageOfFriends } from './lists.ts'

const DAY_MS = 86_400_000
/** As many requests may wait for one account in these tests. */
const MOST_REQUESTS = 3

for (const engine of engines) {
  describe(`friend requests on ${engine.name}`, () => {
    const clock = clockAt(1_700_000_000_000)
    const limits = { ...defaultLimits(), friendRequests: MOST_REQUESTS }
    const parts = { clock, randomBytes: systemRandom, limits }
    let store: TestStore
    let bob: Person

    beforeEach(async () => {
      store = await engine.open()
      bob = await newPerson()
    })
    afterEach(() => store.remove())

    const newPerson = (): Promise<Person> =>
      store.storage.transaction(async (sql) => {
        const keys = { ed25519PublicKey: crypto.randomUUID(), x25519PublicKey: crypto.randomUUID() }
        const added = await addAccount(sql, { ...keys, nickname: 'n' }, parts)
        const alias = check(AliasId, added?.alias_id)
        const account = await findAccountByAlias(sql, alias)
        if (!account) throw new Error('no account was added')
        return { id: account.id, alias }
      })
    const people = async (count: number): Promise<Person[]> => {
      const list: Person[] = []
      while (list.length < count) list.push(await newPerson())
      return list
    }
    /** The request's id, or the code it is refused with. */
    const ask = async (from: Person, to: Person): Promise<number | string> => {
      const pair = { requester: from.id, recipient: to.id }
      try {
        const done = await store.storage.transaction((sql) => requestFriendship(sql, pair, parts))
        return done.friendshipId
      } catch (error) {
        if (error instanceof ProtocolError) return error.code
        throw error
      }
    }
    const asked = async (from: Person, to: Person): Promise<number> => Number(await ask(from, to))
    const reject = (id: number, recipient: Person): Promise<void> =>
      store.storage.transaction((sql) => rejectFriendship(sql, { id, recipient: recipient.id }, parts))
    const accept = (id: number, recipient: Person) =>
      store.storage.transaction((sql) => acceptFriendship(sql, { id, recipient: recipient.id }, parts))
    const remove = (id: number, side: Person): Promise<void> =>
      store.storage.transaction((sql) => removeFriendship(sql, { id, side: side.id }, parts))
    const block = (blocker: Person, blocked: Person): Promise<void> =>
      store.storage.transaction((sql) =>
        blockAccount(sql, { blocker: blocker.id, blocked: blocked.id }, parts),
      )
    const unblock = (blocker: Person): Promise<unknown> =>
      store.storage.transaction((sql) => sql`DELETE FROM blocks WHERE blocker_id = ${blocker.id}`)
    const listOf = (person: Person): Promise<FriendProfile[]> =>
      listFriends(store.storage.sql, person.id, limits)
    const statusesOf = async (person: Person): Promise<string[]> =>
      (await listOf(person)).map(({ status }) => status)

    test('beyond the bound are refused, also to a blocked account, and leave nothing behind', async () => {
      const [first, second, third, fourth, blocked] = await people(5)
      if (!first || !second || !third || !fourth || !blocked) throw new Error('expected five people')
      await block(bob, blocked)
      const ids = [await asked(first, bob), await asked(second, bob), await asked(third, bob)]
      for (const stranger of [fourth, blocked]) {
        expect(await ask(stranger, bob)).toBe('REQUESTS_FULL')
        expect(await listOf(stranger)).toEqual([])
      }
      expect(await ask(first, bob)).toBe(ids[0] ?? 0)
      expect(await statusesOf(bob)).toEqual(['pending', 'pending', 'pending'])
      // An account that was asked by this one becomes a friend at once, no matter how many requests wait.
      const wanted = await newPerson()
      await ask(bob, wanted)
      expect(await ask(wanted, bob)).toBeNumber()
      await reject(ids[1] ?? 0, bob)
      expect(await ask(fourth, bob)).toBeNumber()
      expect(await ask(blocked, bob)).toBe('REQUESTS_FULL')
    })

    test('of blocked accounts take no room', async () => {
      const [blocked, second, ...strangers] = await people(2 + MOST_REQUESTS)
      if (!blocked || !second) throw new Error('expected more people')
      for (const somebody of [blocked, second]) {
        await block(bob, somebody)
        expect(await ask(somebody, bob)).toBeNumber()
      }
      for (const stranger of strangers) expect(await ask(stranger, bob)).toBeNumber()
    })

    test('are listed in pages by their number, each row once, and friends and sent requests with them', async () => {
      const everybody = await people(8)
      for (const [n, person] of everybody.entries()) {
        if (n % 2 === 0) await ask(bob, person)
        else {
          const id = await asked(person, bob)
          if (n === 1) await accept(id, bob)
          if (n === 3) await reject(id, bob)
        }
      }
      const whole = await listOf(bob)
      expect(whole.map(({ alias_id }) => alias_id)).toEqual(everybody.map(({ alias }) => alias))
      for (const limit of [1, 3, 4, 8, 9]) {
        const rows: FriendProfile[] = []
        for (;;) {
          const after = rows.at(-1)?.friendship_id ?? 0
          const page = await pageOfFriends(store.storage.sql, bob.id, { after, limit })
          expect(page.length).toBeLessThanOrEqual(limit)
          rows.push(...page)
          if (page.length < limit) break
        }
        expect(rows).toEqual(whole)
      }
    })

    test('that an older store has in excess are all in the pages; the list without pages has the newest', async () => {
      const friend = await newPerson()
      await accept(await asked(friend, bob), bob)
      const strangers = await people(2 * MOST_REQUESTS + 1)
      for (const [n, { id }] of strangers.entries()) {
        const [low, high] = id < bob.id ? [id, bob.id] : [bob.id, id]
        const status = n % 2 === 0 ? 'pending' : 'rejected'
        await store.storage.transaction(
          (sql) => sql`
            INSERT INTO friendships (low_id, high_id, requester_id, recipient_id, status, created_at, changed_at)
            VALUES (${low}, ${high}, ${id}, ${bob.id}, ${status}, 0, ${clock.now()})`,
        )
      }
      const sent = await newPerson()
      await ask(bob, sent)
      const aliases = (rows: readonly FriendProfile[]): string[] => rows.map(({ alias_id }) => alias_id)
      const all = [friend, ...strangers, sent].map(({ alias }) => alias)
      expect(aliases(await pageOfFriends(store.storage.sql, bob.id, { after: 0, limit: 100 }))).toEqual(all)
      expect(aliases(await listOf(bob))).toEqual(
        [friend, ...strangers.slice(1), sent].map(({ alias }) => alias),
      )
    })

    for (const how of [
      'rejected and then removed',
      'removed without an answer',
      'rejected, and its sender was blocked for a while',
      'rejected, and its sender blocked the other for a while',
    ]) {
      test(`which was ${how} stays rejected when it is sent again, and to its sender it looks pending`, async () => {
        const alice = await newPerson()
        const id = await asked(alice, bob)
        if (how.startsWith('rejected')) await reject(id, bob)
        if (how.endsWith('removed') || how.startsWith('removed')) await remove(id, bob)
        const blocker = how.endsWith('was blocked for a while') ? bob : alice
        if (how.includes('blocked')) {
          await block(blocker, blocker === bob ? alice : bob)
          await unblock(blocker)
        }
        expect([await listOf(alice), await listOf(bob)]).toEqual([[], []])
        for (let times = 0; times < 2; times++) {
          clock.advance(DAY_MS)
          expect(await ask(alice, bob)).toBeNumber()
          expect(await statusesOf(alice)).toEqual(['pending'])
          expect(await statusesOf(bob)).toEqual(['rejected'])
          await remove((await listOf(bob))[0]?.friendship_id ?? 0, bob)
        }
        clock.advance(27 * DAY_MS)
        await ask(alice, bob)
        expect(await statusesOf(bob)).toEqual(['rejected'])
        await remove((await listOf(bob))[0]?.friendship_id ?? 0, bob)
        clock.advance(DAY_MS)
        await ask(alice, bob)
        expect(await statusesOf(bob)).toEqual(['pending'])
        // Asked by the one who refused, it is an ordinary request.
        await remove((await listOf(bob))[0]?.friendship_id ?? 0, bob)
        await ask(bob, alice)
        expect(await statusesOf(alice)).toEqual(['pending'])
      })
    }

    test('that were withdrawn, and friendships that ended, may be sent again at once', async () => {
      const alice = await newPerson()
      await remove(await asked(alice, bob), alice)
      const id = await asked(alice, bob)
      expect(await statusesOf(bob)).toEqual(['pending'])
      await accept(id, bob)
      await remove(id, bob)
      await ask(alice, bob)
      expect(await statusesOf(bob)).toEqual(['pending'])
    })

    test('leave no record of their refusal once it has ended', async () => {
      const [alice, carol] = await people(2)
      if (!alice || !carol) throw new Error('expected two people')
      await remove(await asked(alice, bob), bob)
      clock.advance(DAY_MS)
      await remove(await asked(carol, bob), bob)
      clock.advance(29 * DAY_MS)
      await forgetRejections(store.storage, parts)
      const left = await store.storage.sql<{ requester_id: number }>`SELECT requester_id FROM friendships`
      expect(left.map(({ requester_id }) => requester_id)).toEqual([carol.id])
    })

    test('that become pending after their rejection ended need room like new ones, and say nothing of it', async () => {
      const [alice, ...strangers] = await people(1 + MOST_REQUESTS)
      if (!alice) throw new Error('expected more people')
      const id = await asked(alice, bob)
      await reject(id, bob)
      for (const stranger of strangers) await ask(stranger, bob)
      clock.advance(30 * DAY_MS)
      expect(await ask(alice, bob)).toBe(id)
      expect(await statusesOf(bob)).toEqual(['rejected', 'pending', 'pending', 'pending'])
      await remove((await listOf(bob)).at(-1)?.friendship_id ?? 0, bob)
      expect(await ask(alice, bob)).toBe(id)
      expect(await statusesOf(bob)).toEqual(['pending', 'pending', 'pending'])
    })
  })
}
