// A tour through what the app says of forward secrecy: what a contact's new device means, and what the user
// decides.
import { forwardSecrecy } from '@sotto/client/forward-secrecy'
import { Person } from '../../client/test/people.ts'
import type { AppPerson } from './app-person.ts'
import type { AppStage } from './app-stage.ts'
import type { PersonOptions } from './browser-person.ts'
import type { Look } from './tour.ts'
import { TALK } from './tour-talk.ts'

/** More rounds than it takes until both sides write under version 3. */
const MOST_ROUNDS = 12

/** Shows it all to `look`. */
export async function tourOfSecrecy(stage: AppStage, options: PersonOptions, look: Look): Promise<void> {
  const talk = TALK[options.language ?? 'en']
  const [me, friend] = [await joins(stage, talk.me), await joins(stage, talk.friend)]
  await me.befriend(friend)
  const [phrase, friendsPhrase] = [await me.client.recoveryPhrase(), await friend.client.recoveryPhrase()]
  const { alias } = me
  await me.client.close()
  const person = await stage.recovered(talk.me, phrase, options)
  const { page, t } = person
  const see = async (name: string, words: string): Promise<void> => {
    await person.reads(words)
    await person.settles()
    await look(person, name)
  }
  await person.opens(talk.friend)
  await talkUntilSecret(person, friend, alias)
  const place = new URL(page.url()).hash
  await friend.client.close()

  const again = await recovers(stage, talk.friend, friendsPhrase)
  await again.client.send(alias, talk.lines[0]?.text ?? '')
  await see('secrecy-note', t.secrecy.peerRejoined(talk.friend))
  await person.opensCode(talk.friend)
  await see('secrecy-code', t.secrecy.happened)
  await person.presses(t.secrecy.lower)
  await see('secrecy-lower', t.secrecy.lowerText(talk.friend))
  await person.presses(t.common.cancel)

  const device = await recovers(stage, talk.me, phrase)
  await device.client.send(again.alias, talk.post)
  await again.receives(talk.post)
  await device.client.close()
  await person.goesTo(place)
  await person.presses(t.common.useHere)
  await person.writes(talk.post)
  await see('secrecy-displaced', t.secrecy.displacedText)
  await again.client.close()
}

function joins(stage: AppStage, name: string): Promise<Person> {
  return Person.join(name, stage.relay.url, { forwardSecrecy: forwardSecrecy() })
}

async function recovers(stage: AppStage, name: string, mnemonic: string): Promise<Person> {
  const person = await Person.open(name, stage.relay.url, { forwardSecrecy: forwardSecrecy() })
  await person.client.recover({ mnemonic })
  await person.connect()
  await person.client.syncFriends()
  return person
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
