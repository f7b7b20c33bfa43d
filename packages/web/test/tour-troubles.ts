// A tour through what goes wrong, and what asks before something is deleted.
import { deriveIdentityKeys, encodeBase64, generateMnemonic } from '@sotto/crypto'
import { liftSuspension, suspendAccount } from '../../client/test/operator.ts'
import { Person } from '../../client/test/people.ts'
import type { AppPerson } from './app-person.ts'
import type { AppStage } from './app-stage.ts'
import type { PersonOptions } from './browser-person.ts'
import type { Look } from './tour.ts'
import { TALK } from './tour-talk.ts'

const PASSPHRASE = 'seven quiet boats'

/** Shows it all to `look`. */
export async function tourOfTroubles(stage: AppStage, options: PersonOptions, look: Look): Promise<void> {
  const talk = TALK[options.language ?? 'en']
  const [me, friend] = await Promise.all(
    [talk.me, talk.friend].map((name) => Person.join(name, stage.relay.url)),
  )
  if (!me || !friend) throw new Error('nobody has joined')
  await me.befriend(friend)
  const phrase = await me.client.recoveryPhrase()
  await me.client.close()
  const person = await stage.stranger(talk.me, options)
  const { page, t } = person
  const see = async (name: string): Promise<void> => {
    await person.settles()
    await look(person, name)
  }
  const { welcome, settings, channels, contacts, common } = t
  await person.presses(welcome.importTitle)
  await page.getByLabel(t.device.importFile, { exact: true }).waitFor()
  await see('welcome-import')
  await person.presses(t.common.back)
  await person.presses(welcome.recover)
  await page.getByLabel(welcome.phraseLabel).fill(`${phrase} ${phrase}`)
  await see('welcome-recover-wrong')
  await person.presses(t.common.back)
  await person.recovers(phrase)

  await person.goesTo('#/contacts/add')
  person.expects(/status of 404 .*nobody_of_this_name/)
  await page.getByLabel(contacts.aliasLabel).fill('nobody_of_this_name')
  await person.presses(contacts.find)
  await person.reads(contacts.nobody)
  await see('contacts-add-nobody')
  await person.presses(t.scan.scan)
  await page.getByLabel(t.scan.fromPicture).waitFor()
  await see('contacts-scan')
  await person.goesTo('#/search')
  await page.getByRole('search').getByRole('textbox').last().fill('zebra')
  await person.reads(t.search.nothing)
  await see('search-nothing')

  person.expects(/status of 500/)
  await page.route(/\/channels/, (route) => route.fulfill({ status: 500, json: {} }))
  await person.goesTo('#/channels')
  await person.reads(t.common.unreadable)
  await see('channels-unreadable')
  await page.unroute(/\/channels/)
  await person.goesTo('#/channels/new')
  await page.getByLabel(channels.name).fill(talk.channel)
  await see('channels-new')

  await asks(person, '#/settings/account', [settings.logOut, settings.erase, settings.deleteAccount], see)
  await person.goesTo('#/contacts')
  await page.getByRole('link').filter({ hasText: talk.friend }).first().click()
  await page.getByRole('heading', { name: talk.friend }).first().waitFor()
  const place = new URL(page.url()).hash
  await asks(
    person,
    place,
    [contacts.mute, contacts.clear, contacts.end, contacts.block, contacts.remove],
    see,
  )

  await page.getByRole('main').getByRole('button', { name: common.report, exact: true }).click()
  await page.getByRole('dialog').getByLabel(t.report.reason).fill(talk.post)
  await see('report-contact')
  await person.presses(t.report.send)
  await person.reads(t.report.blockToo(talk.friend))
  await see('report-sent')
  await person.presses(t.report.notNow)

  // From now on the relay gives other keys for the friend.
  const random = (length: number): Uint8Array<ArrayBuffer> => crypto.getRandomValues(new Uint8Array(length))
  const other = await deriveIdentityKeys(await generateMnemonic(random))
  await person.context.route(/\/api\/v1\/friends(\?|$)/, async (route) => {
    const answer = await route.fetch()
    const friends: readonly object[] = await answer.json()
    const x25519_public_key = encodeBase64(other.agreement.publicKey)
    await route.fulfill({ response: answer, json: friends.map((each) => ({ ...each, x25519_public_key })) })
  })
  await person.goesTo('#/settings')
  await person.goesTo('#/contacts')
  await page.getByRole('alert').waitFor()
  await see('keys-changed')
  await person.follows(t.common.keysChangedLook)
  await page.getByRole('button', { name: t.trust.renewBlind }).waitFor()
  await see('keys-changed-code')
  await asks(person, new URL(page.url()).hash, [t.trust.renewBlind, t.trust.renewSame], see)

  // Two bars at once, one of them with the most that an operator can write.
  person.expects(/status of 401 |status of 403 .*\/ws\/ticket/)
  const { alias } = me
  const until = '2037-01-31T12:00:00.000Z'
  await suspendAccount(stage.relay, alias, { why: talk.post.padEnd(500, ` ${talk.post}`), until })
  await person.reads(t.suspension.title)
  await person.goesTo('#/contacts')
  await see('suspended')
  await person.goesTo('#/chats')
  await person.opens(talk.friend)
  await see('suspended-conversation')
  await liftSuspension(stage.relay, alias)
  // The app also looks by itself.
  await person.pressesUntilGone(t.suspension.check, t.suspension.title)

  await person.goesTo('#/chats')
  const device = await Person.open(talk.me, stage.relay.url)
  await device.client.recover({ mnemonic: phrase })
  await device.connect()
  await person.reads(t.common.replacedTitle)
  await see('replaced')
  await device.client.close()
  await person.presses(t.common.useHere)

  await person.setsPassphrase(PASSPHRASE)
  await person.locks()
  await see('lock')
  await person.unlocks('a wrong one')
  await person.reads(t.errors.codes.WRONG_PASSPHRASE ?? '')
  await see('lock-wrong')
  await person.presses(t.lock.forgotten)
  await page.getByRole('dialog').waitFor()
  await see('lock-forgotten')
  await friend.client.close()
}

/** Presses each of these buttons, looks at the dialog that it opens, and closes that. */
async function asks(
  person: AppPerson,
  place: string,
  buttons: readonly string[],
  see: (name: string) => Promise<void>,
): Promise<void> {
  await person.goesTo(place)
  for (const button of buttons) {
    await person.page.getByRole('main').getByRole('button', { name: button, exact: true }).last().click()
    await person.page.getByRole('dialog').waitFor()
    await see(`${place.slice(2).split('/', 1).join('')}: ${button}`)
    await person.page.keyboard.press('Escape')
    await person.page.getByRole('dialog').waitFor({ state: 'detached' })
  }
}
