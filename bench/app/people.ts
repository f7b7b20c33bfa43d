// The people of the benchmark: accounts with many friends, who have written to them.
import type { FriendProfile } from '@sotto/protocol'
import { Person, until } from '../../packages/client/test/people.ts'
import { textsOf } from '../load/search-corpus.ts'

/** How many messages wait from each friend. */
const WAITING_EACH = 2

/** An account that a browser recovers, and what waits for it. */
export interface Account {
  readonly phrase: string
  readonly alias: string
  /** A friend who is connected and writes during the measurement. */
  readonly friend: Person
  /** The conversations' ids, that with `friend` first. */
  readonly conversations: readonly string[]
  /** How many messages wait at the relay. */
  readonly waiting: number
}

/** The nickname of the friend with number `index`. */
export function nameOf(index: number): string {
  return `Friend ${index}`
}

/** Makes friends who are not connected. */
export async function makeFriends(url: string, count: number): Promise<readonly Person[]> {
  const friends: Person[] = []
  for (let index = 0; index < count; index += 1) {
    const friend = await Person.open(nameOf(index), url)
    await friend.client.create({ nickname: friend.name })
    friends.push(friend)
  }
  return friends
}

/** Makes an account whose friends they are, who then send it messages that wait. The first friend stays. */
export async function makeAccount(url: string, name: string, friends: readonly Person[]): Promise<Account> {
  const [friend] = friends
  if (!friend) throw new Error('an account needs a friend')
  const person = await Person.join(name, url)
  const accepted = Promise.withResolvers<void>()
  let count = 0
  const stop = person.client.on('friend_request', ({ friendship_id }) => {
    person.client.acceptFriend(friendship_id).then(() => {
      count += 1
      if (count === friends.length) accepted.resolve()
    }, accepted.reject)
  })
  for (const each of friends) await each.client.requestFriend(person.alias)
  await accepted.promise
  stop()
  const phrase = await person.client.recoveryPhrase()
  const { alias } = person
  await person.client.close()
  const conversations: string[] = []
  const texts = textsOf(friends.length * WAITING_EACH)
  for (const [index, each] of friends.entries()) {
    if (each.client.networkState !== 'connected') await each.connect()
    const isAccepted = ({ alias_id, status }: FriendProfile): boolean =>
      alias_id === alias && status === 'accepted'
    const accepted = await until('the friend knows', () => each.client.friends().find(isAccepted))
    conversations.push(accepted.conversation_id)
    await sendAll(each, alias, texts.slice(index * WAITING_EACH, (index + 1) * WAITING_EACH))
    if (each !== friend) await each.client.disconnect()
  }
  return { phrase, alias, friend, conversations, waiting: friends.length * WAITING_EACH }
}

/** Sends these texts to a contact, and resolves when the relay has them all. */
export async function sendAll(person: Person, contact: string, texts: readonly string[]): Promise<void> {
  const stored = await Promise.all(texts.map((text) => person.client.send(contact, text)))
  const last = stored.at(-1)?.id
  await until(`${person.name} has sent everything`, async () => {
    const latest = await person.client.messages(contact, { limit: 1 })
    return latest.some(({ id, status }) => id === last && status !== 'sending')
  })
}
