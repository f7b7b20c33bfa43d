// A person with the app, and a friend with another program, who write to each other with forward secrecy.
import { forwardSecrecy } from '@sotto/client/forward-secrecy'
import { Person } from '../../client/test/people.ts'
import type { AppPerson } from './app-person.ts'
import type { AppStage } from './app-stage.ts'
import type { PersonOptions } from './browser-person.ts'

/** More rounds than it takes until both sides write under version 3. */
const MOST_ROUNDS = 12

/** Two friends, and what is needed to be them on other devices. */
export interface SecretFriends {
  /** They have opened the conversation. */
  readonly person: AppPerson
  /** Close the client in the end. */
  readonly friend: Person
  /** The alias by which the friend writes to the person. */
  readonly alias: string
  /** The recovery phrases of both. */
  readonly phrase: string
  readonly friendsPhrase: string
}

/** Two friends who have talked until both wrote under version 3. */
export async function secretFriends(
  stage: AppStage,
  name: string,
  friendsName: string,
  options: PersonOptions = {},
): Promise<SecretFriends> {
  const [me, friend] = [await joins(stage, name), await joins(stage, friendsName)]
  await me.befriend(friend)
  const [phrase, friendsPhrase] = [await me.client.recoveryPhrase(), await friend.client.recoveryPhrase()]
  const { alias } = me
  await me.client.close()
  const person = await stage.recovered(name, phrase, options)
  await person.opens(friendsName)
  await talkUntilSecret(person, friend, alias)
  return { person, friend, alias, phrase, friendsPhrase }
}

function joins(stage: AppStage, name: string): Promise<Person> {
  return Person.join(name, stage.relay.url, { forwardSecrecy: forwardSecrecy() })
}

async function talkUntilSecret(person: AppPerson, friend: Person, toPerson: string): Promise<void> {
  for (let round = 1; round <= MOST_ROUNDS; round += 1) {
    await person.writes(`${round} ?`)
    const { version: theirs } = await friend.receives(`${round} ?`)
    const { version: ours } = await friend.client.send(toPerson, `${round} !`)
    await person.sees(`${round} !`)
    if (theirs === 3 && ours === 3) return
  }
  throw new Error(`no forward secrecy after ${MOST_ROUNDS} rounds`)
}
