// Forward secrecy between real chats: it begins by itself and lasts across restarts; what happens to it is
// told; and clients without it still talk with a chat.
import { afterEach, expect, test } from 'bun:test'
import { join as pathOf } from 'node:path'
import type { ClientOptions, StoredMessage } from '@sotto/client'
import { forwardSecrecy } from '@sotto/client/forward-secrecy'
import { Person } from '../../client/test/people.ts'
import { aliasIn, useChats } from './chat-world.ts'
import { storedIn } from './stored-messages.ts'
import type { PipedChat, TtyChat } from './terminals.ts'

const world = useChats()
const { newHome, chatAt, pipedAt, friends } = world
const people: Person[] = []
afterEach(async () => {
  for (const person of people.splice(0)) await person.client.close()
})

const WITH = /── from here on with forward secrecy ──/
/** More exchanges than two chats need until both have told the other of it, on any machine. */
const EXCHANGES = 50

type Speaking = TtyChat | PipedChat

/** One chat sends a text, and another one shows it. */
async function says(from: Speaking, to: Speaking, text: string): Promise<void> {
  from.enter(text)
  await to.sees(new RegExp(`: ${text}$`, 'm'))
}

function shown(chat: Speaking): string {
  return 'screen' in chat ? chat.screen.text : chat.output
}

/** Two chats talk until both of them show that their messages have forward secrecy. */
async function gainsSecrecy(one: Speaking, other: Speaking): Promise<void> {
  for (let at = 0; at < EXCHANGES; at += 1) {
    if ([one, other].every((chat) => WITH.test(shown(chat)))) return
    await says(one, other, `question ${at}`)
    await says(other, one, `answer ${at}`)
  }
  throw new Error(`no forward secrecy after ${EXCHANGES} exchanges:\n${shown(one)}`)
}

/** The number of the message in the line that the chat shows. */
async function numberIn(chat: TtyChat, pattern: RegExp): Promise<string> {
  return /#(\d+)/.exec(await chat.sees(pattern))?.[1] ?? ''
}

/** Each message by its text, sender and version: the same on both sides. */
function told(messages: readonly StoredMessage[], isAlice: boolean): string[] {
  return messages.map(
    ({ isMe, text, version }) => `${isMe === isAlice ? 'alice' : 'bob'} ${version}: ${text}`,
  )
}

/** Opens the client of a person who uses an application of their own. */
async function join(name: string, options: Partial<ClientOptions>): Promise<Person> {
  const person = await Person.join(name, world.relay.url, options)
  people.push(person)
  return person
}

/** A chat of a new account, which is a friend of this person and has the conversation open. */
async function friendOf(
  person: Person,
  name: string,
): Promise<{ chat: PipedChat; alias: string; home: string }> {
  const home = newHome()
  const chat = pipedAt(home, '--nickname', name, '--phrase-file', `${home}.phrase`)
  const alias = await aliasIn(chat)
  await chat.sees(/• connected/)
  chat.enter(`/add ${person.alias}`)
  await chat.sees(/Sent a request/)
  await person.client.syncFriends()
  const [request] = person.client.friends()
  await person.client.acceptFriend(request?.friendship_id ?? 0)
  await chat.sees(/^── /m)
  return { chat, alias, home }
}

test('two chats get forward secrecy by themselves, and keep it when one ends, is killed, or the relay restarts', async () => {
  const { alice, bob, homes } = await friends()
  await alice.sees(/^── bob \(\w+\), without forward secrecy ──$/)
  await gainsSecrecy(alice, bob)
  alice.enter('/code')
  await alice.sees(/^Your security code with bob \(not verified, with forward secrecy\):$/)
  alice.enter('/secrecy')
  await alice.sees(/^Messages with bob have forward secrecy: each has a key of its own/)

  expect(await bob.leave()).toBe(0)
  alice.enter('while bob is away')
  const second = chatAt(homes[1])
  await second.sees(/^── alice \(\w+\), with forward secrecy ──$/)
  await second.sees(/alice: while bob is away$/)
  await says(second, alice, 'bob is back')

  alice.process.kill('SIGKILL')
  await alice.process.exited
  second.enter('while alice is killed')
  const third = chatAt(homes[0])
  await third.sees(/bob: while alice is killed$/)
  await says(third, second, 'alice is back')

  await world.relay.kill('SIGKILL')
  await second.sees(/connection lost/)
  third.enter('while the relay is away')
  await world.relay.start()
  await second.sees(/alice: while the relay is away$/)
  await says(second, third, 'the relay is back')

  expect(await second.leave()).toBe(0)
  expect(await third.leave()).toBe(0)
  const [own, theirs] = [told(await storedIn(homes[0]), true), told(await storedIn(homes[1]), false)]
  expect(own).toEqual(theirs)
  expect(new Set(own).size).toBe(own.length)
  expect(own.slice(own.indexOf('alice 3: while bob is away'))).toEqual([
    'alice 3: while bob is away',
    'bob 3: bob is back',
    'bob 3: while alice is killed',
    'alice 3: alice is back',
    'alice 3: while the relay is away',
    'bob 3: the relay is back',
  ])
}, 240_000)

test('a name for contacts comes with the next message, beside the alias, and is taken back', async () => {
  const { alice, bob, homes } = await friends()
  await gainsSecrecy(alice, bob)
  alice.enter('/profile')
  await alice.sees(/^• You have no name for contacts/)
  alice.enter('/profile Alice\u202e of the Hill')
  await alice.sees(/^• Friends see the name Alice of the Hill once you write/)
  alice.enter('who am I?')
  await bob.sees(/^• alice \(\w+\) is called Alice of the Hill now\.$/)
  await bob.sees(/ Alice of the Hill: who am I\?$/)
  bob.enter('/friends')
  await bob.sees(/^ +1 +\w+ +Alice of the Hill {2}\(nickname alice\)$/)
  expect(await bob.leave()).toBe(0)
  const again = chatAt(homes[1])
  await again.sees(/^── Alice of the Hill \(\w+\), with forward secrecy ──$/)
  again.enter('/with alice of')
  alice.enter('/profile none')
  await alice.sees(/^• You have no name for contacts/)
  alice.enter('and now?')
  await again.sees(/^• Alice of the Hill \(\w+\) is called alice now\.$/)
  await again.sees(/ alice: and now\?$/)
  expect([await again.leave(), await alice.leave()]).toEqual([0, 0])
}, 240_000)

test('after a recovery from the words, what nobody had read comes, and both other chats are told', async () => {
  const options = { forwardSecrecy: forwardSecrecy() }
  const bob = await join('bob', options)
  const { chat: first, home, alias } = await friendOf(bob, 'alice')
  for (let at = 0; at < EXCHANGES && !WITH.test(first.output); at += 1) {
    await bob.client.send(alias, `question ${at}`)
    await first.sees(new RegExp(`bob: question ${at}$`, 'm'))
    first.enter(`answer ${at}`)
    await bob.receives(`answer ${at}`)
  }
  expect(await first.end()).toBe(0)
  const unread = await bob.client.send(alias, 'nobody has read this')
  expect(unread.version).toBe(3)
  await bob.sees(alias, unread.id, 'sent')

  const otherHome = newHome()
  const other = pipedAt(otherHome, '--phrase-file', `${home}.phrase`)
  await other.sees(/• This device has joined the conversation with bob again, because it had no keys for it/)
  await other.sees(/1 (?:new )?from bob/)
  other.enter('/with bob')
  await other.sees(/bob: nobody has read this$/m)
  other.enter('from my other folder')
  expect(await bob.receives('from my other folder')).toMatchObject({ version: 3 })
  expect(bob.heard.secrecy.map(({ notice }) => notice)).toContainEqual({ tell: 'rejoined', by: 'peer' })
  expect(await other.end()).toBe(0)

  // The first folder still has its keys, which are not those of the conversation any more.
  const again = pipedAt(home)
  await again.sees(/^── bob \(\w+\), with forward secrecy ──$/m)
  again.enter('from the first folder')
  await again.sees(/^! Another device of yours has taken over the conversation with bob/m)
  again.enter('/secrecy')
  await again.sees(/have forward secrecy: [\s\S]*\n! Another device of yours/)
  again.enter('/allowrejoin')
  await again.sees(/bob has not joined again too often/)
  again.enter('/rejoin bob')
  await again.sees(/• The conversation with bob comes back to this device/)
  expect(await bob.receives('from the first folder')).toMatchObject({ version: 3 })
  again.enter('/rejoin')
  await again.sees(/This device has the conversation with bob\. Nothing is to be done/)
  expect(await again.end()).toBe(0)
  expect(bob.heard.message.filter(({ text }) => text === 'from the first folder')).toHaveLength(1)
}, 240_000)

/** Alice, who uses the library, and the chat of her friend Bob, who write with forward secrecy. */
async function secretFriendOfChat() {
  const alice = await join('alice', { forwardSecrecy: forwardSecrecy() })
  const mnemonic = alice.client.identity?.mnemonic ?? ''
  const { chat, alias } = await friendOf(alice, 'bob')
  for (let at = 0; at < EXCHANGES && !WITH.test(chat.output); at += 1) {
    await alice.client.send(alias, `question ${at}`)
    await chat.sees(new RegExp(`alice: question ${at}$`, 'm'))
    chat.enter(`answer ${at}`)
    await alice.receives(`answer ${at}`)
  }
  return { alice, mnemonic, chat, alias }
}

test('a friend who joins again too often is let in by the word of the user', async () => {
  const { alice, mnemonic, chat, alias } = await secretFriendOfChat()
  let device = alice
  for (const text of ['second device', 'third device', 'fourth device', 'fifth device']) {
    await device.client.close()
    device = await Person.open('alice', world.relay.url, { forwardSecrecy: forwardSecrecy() })
    people.push(device)
    await device.client.recover({ mnemonic })
    await device.connect()
    await device.client.syncFriends()
    await device.client.send(alias, text)
    if (text === 'fifth device') break
    await chat.sees(new RegExp(`alice: ${text}$`, 'm'))
  }
  expect(chat.output.match(/^! alice has joined again with new keys/gm)).toHaveLength(3)
  await chat.sees(/^! alice has joined again too often today/m)
  chat.enter('/rejoin')
  chat.enter('/allowrejoin')
  await chat.sees(/• alice may join again/)
  await chat.sees(/alice: fifth device$/m)
  expect(await chat.end()).toBe(0)
}, 240_000)

test('a client without forward secrecy and a chat talk with each other, and the chat says what that means', async () => {
  const older = await join('older', {})
  const { chat, alias, home } = await friendOf(older, 'alice')
  for (const at of [1, 2, 3]) {
    chat.enter(`to the older one ${at}`)
    expect((await older.receives(`to the older one ${at}`)).version).toBeUndefined()
    await older.client.send(alias, `to the chat ${at}`)
    await chat.sees(new RegExp(`older: to the chat ${at}$`, 'm'))
  }
  expect(chat.output).toMatch(/^── older \(\w+\), without forward secrecy ──$/m)
  chat.enter('/secrecy')
  await chat.sees(/^Messages with older have no forward secrecy: one key opens all of them/m)
  expect(chat.output).not.toMatch(WITH)
  expect(await chat.end()).toBe(0)
  expect((await storedIn(home)).map(({ version }) => version)).toEqual(Array(6).fill(undefined))
}, 240_000)

test('by the word of the user, messages go without forward secrecy until the friend writes with it', async () => {
  const { alice, bob, homes } = await friends()
  alice.enter('/allowolder')
  await alice.sees(/^Messages with bob have no forward secrecy\. Nothing is to be done\.$/m)
  await gainsSecrecy(alice, bob)
  alice.enter('/allowolder')
  await alice.sees(/! From here on, messages with bob go without forward secrecy, because you said so/)
  await says(alice, bob, 'under the one key')
  await bob.sees(/── from here on without forward secrecy ──/)
  await says(bob, alice, 'with a key of its own')
  await says(alice, bob, 'with one again')
  expect(await alice.leave()).toBe(0)
  expect(await bob.leave()).toBe(0)
  for (const home of homes)
    expect((await storedIn(home)).slice(-3).map(({ version }) => version)).toEqual([undefined, 3, 3])
})

test('what a friend with an older app cannot read leaves by the word of the user, in its order', async () => {
  const { alice, mnemonic, chat } = await secretFriendOfChat()
  await alice.client.close()
  const older = await Person.open('alice', world.relay.url, {})
  people.push(older)
  await older.client.recover({ mnemonic })
  await older.connect()
  await older.client.syncFriends()
  chat.enter('one')
  chat.enter('two')
  await chat.sees(/^• alice is connected with a client that has no forward secrecy\. Messages wait/m)
  chat.enter('/allowolder')
  chat.enter('three')
  await older.receives('three')
  // The last answer may come, too: the device before had not confirmed it.
  expect(older.heard.message.slice(-3).map(({ text, version }) => [text, version])).toEqual([
    ...[
      ['one', undefined],
      ['two', undefined],
      ['three', undefined],
    ],
  ])
  expect(await chat.end()).toBe(0)
})

test('a text with forward secrecy is edited and gets a reaction, which both chats show; one without cannot', async () => {
  const { alice, bob, homes } = await friends()
  alice.enter('of the old days')
  const old = await numberIn(bob, /#(\d+) alice: of the old days$/m)
  bob.enter(`/react ${old} 👍`)
  await bob.sees(/^Only messages with forward secrecy can be changed: see \/secrecy\.$/m)
  await gainsSecrecy(alice, bob)
  await says(alice, bob, 'see you at fife')
  const own = await numberIn(alice, /#(\d+) you: see you at fife$/m)
  const path = pathOf(world.root, 'map.txt')
  await Bun.write(path, 'left, then right')
  alice.enter(`/send "${path}" by the bridge`)
  await alice.sees(/#\d+ you: \(a file: map\.txt, 16 bytes\) by the bridge$/m)
  await bob.sees(/#\d+ alice: \(a file: map\.txt, 16 bytes\) by the bridge$/m)
  alice.enter(`/edit ${own} see you at five`)
  await bob.sees(/• alice edited #\d+\.$/m)
  const theirs = await numberIn(bob, /#(\d+) alice: see you at five \(edited\)$/m)
  bob.enter(`/edit ${theirs} see you never`)
  await bob.sees(/^Only your own messages can be edited\.$/m)
  bob.enter(`/react ${theirs} 👍`)
  await alice.sees(/• bob reacted to #\d+ with 👍\.$/m)
  await alice.sees(/you: see you at five \(edited\) \[👍\]$/m)
  bob.enter(`/react ${theirs}`)
  await alice.sees(/• bob took back the reaction to #\d+\.$/m)
  expect(await alice.leave()).toBe(0)
  expect(await bob.leave()).toBe(0)
  for (const home of homes) {
    const texts = (await storedIn(home)).map(({ text }) => text)
    expect(texts).toContain('see you at five')
    expect(texts).not.toContain('see you at fife')
  }
})
