// Stories of accounts: how one begins, moves to another device, and is recovered.
import { expect, test } from 'bun:test'
import { AppWorld } from './world.ts'

const world = new AppWorld({}, { keepsApp: true })

test('two strangers become friends and talk', async () => {
  const [alice, bob] = await Promise.all([world.joins('Alice'), world.joins('Bob')])
  await alice.befriends(bob)
  await alice.opens('Bob')
  await alice.writes('Hello Bob')
  await bob.opens('Alice')
  await bob.sees('Hello Bob')
  await bob.writes('Hello Alice')
  await alice.sees('Hello Alice')
  await bob.sees('Hello Alice', { mark: 'read' })
})

test('a device is replaced by another one, and takes the account back', async () => {
  const [phrase = '', bobs = ''] = await world.phrasesOfFriends('Alice', 'Bob')
  const old = await world.recovered('Alice', phrase)
  const bob = await world.recovered('Bob', bobs)
  const recent = await world.recovered('Alice', phrase)
  await old.reads(old.t.common.replacedTitle)
  await bob.opens('Alice')
  await bob.writes('to the new one')
  await recent.opens('Bob')
  await recent.sees('to the new one')
  await old.presses(old.t.common.useHere)
  await recent.reads(recent.t.common.replacedTitle)
  await bob.writes('to the old one')
  await old.opens('Bob')
  await old.sees('to the old one')
})

test('a phrase recovers an identity in a fresh browser', async () => {
  const [alice, bob] = [await world.stranger('Alice'), await world.joins('Bob')]
  const phrase = await alice.registers()
  await alice.befriends(bob)
  const alias = await alice.ownAlias()
  await alice.leaves()
  const again = await world.recovered('Alice', phrase)
  expect(await again.ownAlias()).toBe(alias)
  await again.follows(again.t.common.chats)
  await again.opens('Bob')
  await again.writes('I am back')
  await bob.opens('Alice')
  await bob.sees('I am back')
})

test('a wrong word of the phrase is said before it is accepted', async () => {
  const alice = await world.stranger('Alice')
  const { t } = alice
  await alice.presses(t.welcome.create)
  await alice.page.getByLabel(t.welcome.nicknameLabel).fill('Alice')
  await alice.presses(t.welcome.create)
  await alice.presses(t.welcome.phraseWritten)
  for (const field of await alice.page.getByRole('textbox').all()) await field.fill('wrong')
  await alice.presses(t.welcome.confirmDo)
  await alice.reads(t.welcome.confirmWrong)
  // The phrase is asked for again after a reload: nobody is left with an account that cannot be recovered.
  await alice.reloads()
  await alice.page.getByRole('heading', { name: t.welcome.phraseTitle }).waitFor()
})
