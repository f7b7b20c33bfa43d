// While the user permits an older version, nothing leaves under version 3, and no late answer ends the
// permission.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { type ClientOptions, SecrecyChoices } from '../src/client.ts'
import { forwardSecrecy } from '../src/forward-secrecy/entry.ts'
import { deviceOf } from '../src/module-access.ts'
import { BadLine } from './bad-line.ts'
import { briefPauses } from './brief-pauses.ts'
import { forwardFriends, untilVersion3 } from './forward-people.ts'
import { type Person, until } from './people.ts'
import { PeopleWorld } from './people-world.ts'

setDefaultTimeout(240_000)

const world = new PeopleWorld()

/** When a refused handshake is sent again, and when the conversations look at the time, in milliseconds. */
const [RETRY_MS, TICK_MS] = [5000, 10_000]
const DAY_MS = 24 * 60 * 60_000

/** A clock that the test sets forward, and whose waits of one length end when the test says so. */
class ToldClock {
  aheadMs = 0
  readonly #waiting = new Map<number, Set<() => void>>([
    [RETRY_MS, new Set()],
    [TICK_MS, new Set()],
  ])
  readonly clock: NonNullable<ClientOptions['clock']> = {
    now: () => briefPauses.clock.now() + this.aheadMs,
    after: (ms, run) => {
      const waiting = this.#waiting.get(ms)
      if (!waiting) return briefPauses.clock.after(ms, run)
      waiting.add(run)
      return () => waiting.delete(run)
    },
  }

  /** Ends the waits of this length that have begun. @returns how many there were */
  end(ms: number): number {
    const runs = [...(this.#waiting.get(ms) ?? [])]
    for (const run of runs) {
      this.#waiting.get(ms)?.delete(run)
      run()
    }
    return runs.length
  }
}

async function friends(clock: ToldClock, line: BadLine): Promise<[Person, Person]> {
  const options = { forwardSecrecy: forwardSecrecy(), clock: clock.clock, WebSocket: line.Socket }
  const alice = await world.join('alice', options)
  const bob = await world.join('bob', { forwardSecrecy: forwardSecrecy() })
  await alice.befriend(bob)
  await untilVersion3(alice, bob)
  return [alice, bob]
}

/** Sends a text that goes without forward secrecy. @returns its id */
async function sendsOlder(from: Person, to: Person, text: string): Promise<string> {
  const { id } = await from.client.send(to.alias, text)
  expect(await to.receives(text)).not.toHaveProperty('version')
  return id
}

test('a handshake that the relay had refused is not sent again before the contact has version 3', async () => {
  const [told, line] = [new ToldClock(), new BadLine(() => 0)]
  const [alice, bob] = await friends(told, line)
  // The epoch is too old for another message: a commit goes first.
  told.aheadMs = 2 * DAY_MS
  line.fates.push('RATE_LIMITED')
  await alice.client.send(bob.alias, 'waits')
  await until('the commit is refused', () => line.refusals.length > 0)
  await until('the message waits for it', async () => (await alice.store.listOutbox()).length > 0)
  await new SecrecyChoices(alice.client).allowOlderVersion(bob.alias)
  expect(await bob.receives('waits')).not.toHaveProperty('version')

  const before = new Set(line.passed)
  await until('it is to be sent again', () => told.end(RETRY_MS) > 0)
  const id = await sendsOlder(alice, bob, 'under the one key')
  expect([...line.passed].filter((each) => !before.has(each))).toEqual([id])

  await bob.client.send(alice.alias, 'I have it')
  expect(await alice.receives('I have it')).toMatchObject({ version: 3 })
  await alice.client.send(bob.alias, 'so have I')
  expect(await bob.receives('so have I')).toMatchObject({ version: 3 })
  expect([bob, alice].flatMap(({ heard }) => heard.error)).toEqual([])
})

test('nothing is acknowledged under version 3 meanwhile', async () => {
  const [told, line] = [new ToldClock(), new BadLine(() => 0)]
  const [alice, bob] = await friends(told, line)
  const { id } = await bob.client.send(alice.alias, 'not acknowledged yet')
  await bob.sees(alice.alias, id, 'delivered')
  await new SecrecyChoices(alice.client).allowOlderVersion(bob.alias)
  told.aheadMs = 60_000
  expect(told.end(TICK_MS)).toBeGreaterThan(0)
  // It comes after what the time has led to.
  expect(await new SecrecyChoices(alice.client).stopOf(bob.alias)).toBeUndefined()
  expect(await alice.store.listOutbox()).toEqual([])

  const before = new Set(line.passed)
  const older = await sendsOlder(alice, bob, 'under the one key')
  expect([...line.passed].filter((each) => !before.has(each))).toEqual([older])
})

test('an answer about the group that comes after the user’s word does not end the permission', async () => {
  const [alice, bob] = await forwardFriends(world)
  const { sessions } = deviceOf(alice.client).needEngine()
  const { speaks: _, hadNoGroup: _none, ...unknown } = sessions.get(bob.alias)
  // The relay's answer is on its way while the user decides.
  const asked = deviceOf(alice.client).needEngine().speaks(unknown)
  const decided = new SecrecyChoices(alice.client).allowOlderVersion(bob.alias)
  expect(await asked).toBe(false)
  await decided
  expect(await alice.client.conversation(bob.alias)).toMatchObject({
    hasForwardSecrecy: false,
    isLowered: true,
  })
})
