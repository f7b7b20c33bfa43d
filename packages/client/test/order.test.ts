// The order of a conversation: the relay accepts messages in the order in which the user sent them, even if a
// full mailbox refuses some at first.
import { afterEach, expect, setDefaultTimeout, test } from 'bun:test'
import { type RelayProcess, startRelay } from '@sotto/relay/testing'
import { Person, until } from './people.ts'

// Long, because a busy machine is slow. A wait that fails names what did not happen.
setDefaultTimeout(240_000)

let relay: RelayProcess
const people: Person[] = []

afterEach(async () => {
  for (const person of people.splice(0)) await person.client.close()
  await relay.stop()
})

/** Two friends at a relay with these settings. The second is disconnected. */
async function friends(env: Record<string, string>): Promise<[Person, Person]> {
  relay = await startRelay({ env: { LIMIT_CONVERSATION_PERCENT: '100', ...env } })
  const alice = await Person.join('alice', relay.url)
  const bob = await Person.join('bob', relay.url)
  people.push(alice, bob)
  await alice.befriend(bob)
  bob.client.disconnect()
  return [alice, bob]
}

/** The texts of alice's messages that the relay has accepted, in the order of `seq`. */
async function accepted(alice: Person, bob: Person): Promise<string[]> {
  const messages = await alice.client.messages(bob.alias)
  return messages.filter(({ seq }) => seq !== undefined).map(({ text }) => text)
}

/** How many of alice's messages have reached bob. */
async function delivered(alice: Person, bob: Person): Promise<number> {
  return (await alice.client.messages(bob.alias)).filter(({ status }) => status === 'delivered').length
}

/** Why the relay takes no messages from alice to bob for now, if so. */
async function heldBy(alice: Person, bob: Person): Promise<string | undefined> {
  return (await alice.client.conversation(bob.alias)).heldBy
}

async function untilAllArrive(alice: Person, bob: Person, texts: readonly string[]): Promise<void> {
  await until('bob has all messages', () => bob.heard.message.length >= texts.length, 50_000)
  expect(bob.heard.message.map(({ text }) => text)).toEqual([...texts])
  await until('alice has no unsent message', async () => (await alice.client.countUnsent()) === 0)
  expect(await accepted(alice, bob)).toEqual([...texts])
}

test('a mailbox that fills and empties during a burst does not change the order of messages', async () => {
  // At this rate messages queue at the relay, so the mailbox has room again before the relay has handled all.
  const [alice, bob] = await friends({
    LIMIT_MAILBOX_MESSAGES: '10',
    RATE_LIMITS: 'on',
    RATE_MESSAGE: '30/1',
  })
  const texts = Array.from({ length: 60 }, (_, at) => `message ${at}`)
  await Promise.all(texts.map((text) => alice.client.send(bob.alias, text)))
  for (let round = 1; round <= 4; round += 1) {
    await until('the mailbox is full', async () => (await accepted(alice, bob)).length >= round * 10)
    await bob.connect()
    await until('it has room again', async () => (await delivered(alice, bob)) >= round * 10)
    bob.client.disconnect()
  }
  await bob.connect()
  await untilAllArrive(alice, bob, texts)
})

test('a small message does not overtake a large one that the full mailbox refused', async () => {
  const [alice, bob] = await friends({ LIMIT_MAILBOX_BYTES: String(1024 * 1024) })
  const large = 'x'.repeat(45_000)
  const texts = Array.from({ length: 24 }, (_, at) => `${at} ${large}`).flatMap((text, at) => [
    text,
    `small ${at}`,
  ])
  for (const text of texts) await alice.client.send(bob.alias, text)
  await until('the mailbox is full', async () => (await heldBy(alice, bob)) === 'MAILBOX_FULL')
  const before = await accepted(alice, bob)
  expect(before).toEqual(texts.slice(0, before.length))
  expect(before.length).toBeLessThan(texts.length)
  await bob.connect()
  await untilAllArrive(alice, bob, texts)
})

test('a conversation that waits for a full mailbox does not delay another conversation', async () => {
  const [alice, bob] = await friends({ LIMIT_MAILBOX_MESSAGES: '10' })
  const carol = await Person.join('carol', relay.url)
  people.push(carol)
  await alice.befriend(carol)
  for (let at = 0; at < 15; at += 1) await alice.client.send(bob.alias, `message ${at}`)
  await alice.client.send(carol.alias, 'hello carol')
  await carol.receives('hello carol')
  await until('bob’s mailbox is full', async () => (await heldBy(alice, bob)) === 'MAILBOX_FULL')
  const later = await alice.client.send(carol.alias, 'and again')
  await alice.sees(carol.alias, later.id, 'delivered')
  expect((await accepted(alice, bob)).length).toBe(10)
})
