// A tour through what screens show that have nothing, or something else than one expects.
import { Person } from '../../client/test/people.ts'
import type { AppStage } from './app-stage.ts'
import type { PersonOptions } from './browser-person.ts'
import type { Look } from './tour.ts'
import { TALK } from './tour-talk.ts'

const PASSPHRASE = 'seven quiet boats'

/** Shows it all to `look`. */
export async function tourOfStates(stage: AppStage, options: PersonOptions, look: Look): Promise<void> {
  const talk = TALK[options.language ?? 'en']
  const [me, friend, stranger] = await Promise.all(
    [talk.me, talk.friend, talk.stranger].map((name) => Person.join(name, stage.relay.url)),
  )
  if (!me || !friend || !stranger) throw new Error('nobody has joined')
  await me.befriend(friend)
  await me.client.block(stranger.alias)
  const phrase = await me.client.recoveryPhrase()
  await me.client.close()
  const person = await stage.recovered(talk.me, phrase, options)
  const { page, t } = person
  const { common, invitation, settings } = t
  const see = async (name: string, words: string): Promise<void> => {
    await person.reads(words)
    await person.settles()
    await look(person, name)
  }
  const searchesInList = (words: string): Promise<void> =>
    page.getByRole('search').getByRole('textbox').last().fill(words)

  await person.opens(talk.friend)
  await see('conversation-empty', t.conversation.empty)
  await person.goesTo('#/chats/nobody')
  await see('conversation-unknown', t.conversation.unknown)
  const [line] = talk.lines
  await friend.client.send(me.alias, line?.text ?? '')
  await person.goesTo('#/search')
  await searchesInList(line?.text.split(' ')[0] ?? '')
  await page
    .getByRole('link')
    .filter({ has: page.locator('mark') })
    .first()
    .waitFor()
  await see('search-found', talk.friend)

  await person.goesTo(`#/add/${stranger.alias}`)
  await see('invitation', invitation.text)
  await person.goesTo(`#/add/${me.alias}`)
  await see('invitation-own', invitation.own)
  await person.goesTo('#/add/-')
  await see('invitation-broken', invitation.broken)
  await person.goesTo('#/add/somebody?relay=https://relay.example')
  await see('invitation-elsewhere', invitation.elsewhere)
  await person.goesTo('#/invite/abc')
  await see('invitation-joined', invitation.joined)
  await person.goesTo('#/calls/nobody')
  await see('calls-unknown', t.calls.unknown)
  await person.goesTo('#/contacts/nobody')
  await see('contact-unknown', t.contacts.unknown)

  await person.goesTo('#/contacts/blocked')
  await see('blocked', talk.stranger)
  person.expects(/status of 500/)
  await page.route(/\/blocks/, (route) => route.fulfill({ status: 500, json: {} }))
  await person.presses(t.contacts.unblock)
  await page.getByRole('alert').getByText(/./).first().waitFor()
  await see('notice-of-an-error', talk.stranger)
  await person.goesTo('#/contacts')
  await person.goesTo('#/contacts/blocked')
  await see('blocked-unreadable', common.tryAgain)
  await page.unroute(/\/blocks/)

  await person.goesTo('#/channels')
  await see('channels-empty', t.channels.empty)
  await searchesInList('zebra')
  await see('channels-nothing-found', t.channels.nothingFound)
  person.expects(/status of 40[04] .*\/channels\/none/)
  await person.goesTo('#/channels/none')
  await see('channel-unknown', common.unreadable)
  await person.goesTo('#/shop')
  await searchesInList('???')
  await see('shop-nothing-found', t.shop.none)
  await person.goesTo(`#/shop/alias/${friend.alias}`)
  await see('alias-not-for-sale', t.shop.toShop)
  await person.goesTo('#/shop/orders/none')
  await see('order-unknown', t.shop.orderUnknown)

  await person.goesTo('#/settings/about')
  await person.presses(t.device.licencesShow)
  await page.locator('summary').first().click()
  await see('licences', t.device.licences)
  await person.goesTo('#/settings/account')
  await person.presses(settings.phraseShow)
  await see('phrase', settings.phraseHide)
  await person.setsPassphrase(PASSPHRASE)
  await see('passphrase-is-set', settings.lockNow)
  await person.goesTo('#/settings/account')
  await see('passphrase-asked', settings.passphraseContinue)
  await friend.client.close()
  await stranger.client.close()
}
