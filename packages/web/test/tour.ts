// A tour through the whole app: every step of the welcome, then every screen that links lead to, with its
// menus. For tests and pictures that must leave out no screen.
import { Channels } from '@sotto/client'
import { Person, until } from '../../client/test/people.ts'
import type { AppPerson } from './app-person.ts'
import type { AppStage } from './app-stage.ts'
import type { PersonOptions } from './browser-person.ts'
import { TALK } from './tour-talk.ts'

/** Called at each screen, with a name for it: `contacts`, `chats-open`, `settings-lock-menu`. */
export type Look = (person: AppPerson, name: string) => Promise<void>

/** Some places that a tour has to show: a link that was not found would leave them out. */
export const PLACES = ['welcome-phrase', 'chats', 'chats-open', 'contacts', 'contacts-add', 'contacts-open']

/** Shows everything to `look`. */
export async function tour(stage: AppStage, options: PersonOptions, look: Look): Promise<void> {
  await tourOfWelcome(stage, options, look)
  await tourOfAccount(stage, options, look)
}

async function tourOfWelcome(stage: AppStage, options: PersonOptions, look: Look): Promise<void> {
  const person = await stage.stranger(TALK[options.language ?? 'en'].me, options)
  const see = async (name: string): Promise<void> => {
    await person.settles()
    await look(person, name)
  }
  const { welcome, common, chats, contacts } = person.t
  await see('welcome')
  await person.presses(welcome.recover)
  await see('welcome-recover')
  await person.presses(common.back)
  await person.presses(welcome.create)
  await person.page.getByLabel(welcome.nicknameLabel).fill(person.name)
  await see('welcome-nickname')
  await person.presses(welcome.create)
  const words = person.page.getByRole('main').getByRole('listitem')
  await words.first().waitFor()
  const phrase = await words.allTextContents()
  await see('welcome-phrase')
  await person.presses(welcome.phraseWritten)
  await see('welcome-check')
  await person.confirmsPhrase(phrase)
  await person.reads(chats.empty)
  await see('chats-empty')
  await person.goesTo('#/contacts')
  await person.reads(contacts.empty)
  await see('contacts-empty')
}

async function tourOfAccount(stage: AppStage, options: PersonOptions, look: Look): Promise<void> {
  const talk = TALK[options.language ?? 'en']
  const { url } = stage.relay
  const me = await Person.join(talk.me, url)
  const names = [talk.friend, talk.stranger, ...talk.others.map(({ name }) => name)]
  const people = await Promise.all(names.map((name) => Person.join(name, url)))
  const [friend, stranger, ...others] = people
  if (!friend || !stranger) throw new Error('nobody has joined')
  for (const each of [friend, ...others]) await me.befriend(each)
  const phrase = await me.client.recoveryPhrase()
  const channels = new Channels(me.client)
  const channel = await channels.create({ name: talk.channel, description: talk.post })
  await channels.post(
    channel,
    `# ${talk.channel}\n\n- **${talk.post}** [${talk.channel}](https://garden.example)`,
  )
  await me.client.close()

  const person = await stage.recovered(talk.me, phrase, options)
  const alias = await person.ownAlias()
  await stranger.client.requestFriend(alias)
  for (const { name, client } of [friend, ...others])
    await until(`${name} has the conversation`, async () => (await client.conversations()).length > 0)
  await person.goesTo('#/chats')
  for (const [at, { name, says }] of talk.others.entries()) {
    await others[at]?.client.send(alias, says)
    await person.seesInList(name, says)
  }
  await person.opens(talk.friend)
  for (const { by, text } of talk.lines) {
    if (by === 'friend') {
      await friend.client.send(alias, text)
      await person.sees(text)
    } else {
      await person.writes(text)
      await friend.receives(text)
      await friend.client.markRead(alias)
      await person.sees(text, { mark: 'read' })
    }
  }
  await person.page.mouse.move(0, 0)
  await follow(person, look)
  for (const { client } of people) await client.close()
}

/** Visits every place that links lead to, one of each kind, and opens the menus there. */
async function follow(person: AppPerson, look: Look): Promise<void> {
  const seen = new Set<string>()
  const places = ['#/chats']
  for (const place of places) {
    const name = nameOf(place)
    await person.goesTo(place)
    await look(person, name)
    for (const menu of await person.page.locator('button[aria-haspopup="menu"]:visible').all()) {
      await menu.click()
      await person.settles()
      await look(person, `${name}-menu`)
      await person.page.keyboard.press('Escape')
      await person.page.mouse.move(0, 0)
      break
    }
    const links = await person.page.locator('a[href^="#/"]').evaluateAll((all) => {
      return all.map((link) => link.getAttribute('href') ?? '')
    })
    for (const link of links) {
      if (seen.has(nameOf(link)) || nameOf(link) === 'chats') continue
      seen.add(nameOf(link))
      places.push(link)
    }
  }
}

/** The kind of a place: `#/chats/<id>?at=<message>` is `chats-open-at`. */
function nameOf(place: string): string {
  const [path = '', query = ''] = place.slice(2).split('?')
  // Aliases are words, too.
  if (path.startsWith('shop/alias/')) return 'shop-alias-open'
  const parts = path.split('/').map((part) => (/^[a-z-]+$/.test(part) ? part : 'open'))
  return [...parts, ...new URLSearchParams(query).keys()].join('-')
}
