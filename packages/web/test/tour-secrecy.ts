// A tour through what forward secrecy brings: edits and reactions, names for contacts, what a contact's new
// device means, and what the user decides.
import { type ClientOptions, Profiles, Reactions } from '@sotto/client'
import { forwardSecrecy } from '@sotto/client/forward-secrecy'
import { sendContent } from '../../client/test/forward-people.ts'
import { Person } from '../../client/test/people.ts'
import type { AppStage } from './app-stage.ts'
import type { PersonOptions } from './browser-person.ts'
import { type SecretFriends, secretFriends } from './secret-friend.ts'
import type { Look } from './tour.ts'
import { TALK } from './tour-talk.ts'

/** Shows it all to `look`. */
export async function tourOfSecrecy(stage: AppStage, options: PersonOptions, look: Look): Promise<void> {
  const talk = TALK[options.language ?? 'en']
  const secret = await secretFriends(stage, talk.me, talk.friend, options)
  const { person, friend, alias, phrase, friendsPhrase } = secret
  const { page, t } = person
  const see = async (name: string, words: string): Promise<void> => {
    await person.reads(words)
    await person.settles()
    await look(person, name)
  }
  const place = new URL(page.url()).hash
  await tourOfChanges(secret, talk, see)
  await tourOfNames(secret, talk, see)
  await person.goesTo(place)
  await friend.client.close()

  const older = await recovers(stage, talk.friend, friendsPhrase, {})
  await person.writes(talk.lines[3]?.text ?? '')
  await see('secrecy-waits', t.secrecy.waits(talk.friend))
  await person.presses(t.common.close)
  await older.client.close()

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

async function tourOfChanges(
  { person, friend, alias }: SecretFriends,
  { lines, post }: (typeof TALK)['en'],
  see: (name: string, words: string) => Promise<void>,
): Promise<void> {
  const { page, t } = person
  const { changes, conversation } = t
  const [theirs = '', own = ''] = [lines[0]?.text, lines[2]?.text]
  const closes = async (): Promise<void> => {
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').or(page.getByRole('menu')).first().waitFor({ state: 'detached' })
  }
  const { id, conversationId } = await friend.client.send(alias, theirs)
  await person.writes(own)
  const { id: ownId } = await friend.receives(own)
  const reactions = new Reactions(friend.client)
  await reactions.react({ conversationId, isMe: false, id: ownId }, '❤️')
  await reactions.react({ conversationId, isMe: true, id }, '🎉')
  await person.opensMenuOf(theirs)
  await page.getByRole('menuitemradio', { name: changes.quick['👍'] ?? '' }).click()
  await (await person.sees(theirs)).getByRole('button', { pressed: true }).waitFor()
  await (await person.sees(own)).getByRole('button', { pressed: false }).click()
  await (await person.sees(own)).getByRole('button', { pressed: true }).waitFor()
  await person.opensMenuOf(own)
  await see('changes-menu', changes.edit)
  await person.choosesFromMenu(changes.otherEmoji)
  await page.getByRole('dialog').getByRole('listitem').first().waitFor()
  await see('changes-emoji', changes.reactTitle)
  const field = page.getByRole('dialog').getByRole('textbox')
  await field.fill(own)
  await field.press('Enter')
  await see('changes-emoji-refused', changes.oneEmoji)
  await closes()
  await (await person.sees(own)).press('Enter')
  await person.choosesFromMenu(changes.edit)
  await page.getByRole('textbox', { name: changes.newText }).fill(post)
  await see('changes-editing', changes.editing)
  await person.presses(t.common.save)
  await person.sees(post)
  await sendContent(friend, alias, Uint8Array.of(1, 99, 1, 2, 0x68, 0x69))
  await person.sees(conversation.needsNewer)
  await see('changes-shown', conversation.edited)
}

async function tourOfNames(
  { person, friend, alias }: SecretFriends,
  { stranger, post }: (typeof TALK)['en'],
  see: (name: string, words: string) => Promise<void>,
): Promise<void> {
  const { contacts } = person.t
  const { conversationId } = await friend.client.conversation(alias)
  const profiles = new Profiles(friend.client)
  await profiles.setName(stranger)
  await friend.client.send(alias, post)
  await person.goesTo(`#/contacts/${conversationId}`)
  await see('contact-calls-itself', contacts.callsItself)
  await profiles.setName(undefined)
  await friend.client.send(alias, post)
  await person.page.getByText(contacts.callsItself).waitFor({ state: 'detached' })
}

async function recovers(
  stage: AppStage,
  name: string,
  mnemonic: string,
  options: Partial<ClientOptions> = { forwardSecrecy: forwardSecrecy() },
): Promise<Person> {
  const person = await Person.open(name, stage.relay.url, options)
  await person.client.recover({ mnemonic })
  await person.connect()
  await person.client.syncFriends()
  return person
}
