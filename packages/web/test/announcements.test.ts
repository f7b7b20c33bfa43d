// What a screen reader is told: new messages politely, errors at once, and where in a list it is.
import { expect, test } from 'bun:test'
import { Edits, Reactions } from '@sotto/client'
import type { Page } from 'playwright-core'
import { until } from '../../client/test/people.ts'
import { AccessibilityTree } from './accessibility-tree.ts'
import { secretFriends } from './secret-friend.ts'
import { AppWorld } from './world.ts'

const world = new AppWorld()

/** Collects what live regions of a kind say from now on: the text of each element that comes into one. */
async function listens(page: Page, role: 'status' | 'alert'): Promise<() => Promise<readonly string[]>> {
  const heard = await page.evaluateHandle((wanted) => {
    const said: string[] = []
    new MutationObserver((records) => {
      for (const { target, addedNodes, type } of records) {
        const element = target instanceof Element ? target : target.parentElement
        const region = element?.closest(`[role="${wanted}"]`)
        if (!region) continue
        const texts = type === 'characterData' ? [target] : [...addedNodes]
        said.push(...texts.map(({ textContent }) => textContent ?? ''))
      }
    }).observe(document, { subtree: true, childList: true, characterData: true })
    return said
  }, role)
  return () => heard.evaluate((said) => said)
}

test('a new message is told once, politely, with who sent it, wherever one is', async () => {
  const [alice, bob, alias] = await world.withFriend('Alice', 'Bob')
  const tree = await AccessibilityTree.of(alice.page)
  const heard = await listens(alice.page, 'status')
  const ofBob = async (): Promise<readonly string[]> =>
    (await heard()).filter((said) => said.startsWith('Bob'))
  const isHeard = (count: number): Promise<unknown> =>
    until(`${count} messages are told`, async () => (await ofBob()).length >= count)
  await bob.client.send(alias, 'Hello')
  await isHeard(1)
  await alice.opens('Bob')
  // The same words again are told again.
  for (const count of [2, 3]) {
    await bob.client.send(alias, 'Hello')
    await isHeard(count)
  }
  await alice.goesTo('#/settings')
  await bob.client.send(alias, 'Where are you?')
  await isHeard(4)
  expect(await ofBob()).toEqual(['Bob: Hello', 'Bob: Hello', 'Bob: Hello', 'Bob: Where are you?'])
  expect(await tree.live('Bob: Where are you?')).toBe('polite')
})

test('of a muted conversation, messages are told only while it is open', async () => {
  const { person: alice, friends, alias } = await world.withFriends('Alice', 'Bob', 'Carl')
  const [bob, carl] = friends
  await alice.doesWith('Bob', alice.t.chats.muteHours)
  const heard = await listens(alice.page, 'status')
  const isHeard = (words: string): Promise<unknown> =>
    until(`${words} is told`, async () => (await heard()).includes(words))
  await bob?.client.send(alias, 'Nobody hurries')
  await alice.seesInList('Bob', 'Nobody hurries')
  await carl?.client.send(alias, 'Hello')
  await isHeard('Carl: Hello')
  await alice.opens('Bob')
  await bob?.client.send(alias, 'Now')
  await isHeard('Bob: Now')
  expect((await heard()).filter((said) => said.includes(':'))).toEqual(['Carl: Hello', 'Bob: Now'])
})

for (const language of ['en', 'ar'] as const) {
  test(`edits and reactions of the contact are told in the open conversation: ${language}`, async () => {
    const { person: alice, friend: bob, alias } = await secretFriends(world, 'Alice', 'Bob', { language })
    try {
      const t = alice.t.changes
      const heard = await listens(alice.page, 'status')
      // What comes at the same time is told together.
      const isHeard = (words: string): Promise<unknown> =>
        until(`${words} is told`, async () => (await heard()).some((said) => said.includes(words)))
      await alice.writes('At seven?')
      const own = await bob.receives('At seven?')
      const { id } = await bob.client.send(alias, 'Yes')
      const reactions = new Reactions(bob.client)
      const toOwn = { conversationId: own.conversationId, isMe: false, id: own.id }
      await new Edits(bob.client).edit(alias, id, 'Yes, gladly')
      await isHeard(t.heardEdit('Bob', 'Yes, gladly'))
      await reactions.react(toOwn, '🎉')
      await isHeard(t.heardReaction('Bob', '🎉', 'At seven?'))
      await reactions.takeBack(toOwn)
      await isHeard(t.heardTakenBack('Bob', 'At seven?'))
      const before = (await heard()).length

      // Neither what one does oneself, nor what comes while the conversation is not open.
      await alice.opensMenuOf('Yes, gladly')
      await alice.page.getByRole('menuitemradio', { name: t.quick['👍'] ?? '', exact: true }).click()
      await (await alice.sees('Yes, gladly')).getByRole('button', { pressed: true }).waitFor()
      await alice.does(t.edit, 'At seven?')
      const form = alice.page.getByRole('textbox', { name: t.newText })
      await form.fill('At eight?')
      await form.press('Enter')
      await alice.sees('At eight?')
      await alice.goesTo('#/chats')
      await reactions.react(toOwn, '❤️')
      await bob.client.send(alias, 'after it')
      await isHeard('Bob: after it')
      expect((await heard()).slice(before)).toEqual(['Bob: after it'])
    } finally {
      await bob.client.close()
    }
  })
}

test('an error is told at once', async () => {
  const alice = await world.joins('Alice')
  const tree = await AccessibilityTree.of(alice.page)
  const heard = await listens(alice.page, 'alert')
  await alice.page.route(/\/friends\/request/, (route) => route.fulfill({ status: 500, json: {} }))
  alice.expects(/status of 500/)
  const [bob] = [await world.joins('Bob')]
  await alice.asksForFriendship(await bob.ownAlias())
  const said = await until('the error is told', async () => (await heard()).at(0))
  expect(await tree.live(said)).toBe('assertive')
})

test('the place in a long conversation is told at both ends, in its middle, and of what is not sent', async () => {
  const [alice, bob, alias] = await world.withFriend('Alice', 'Bob')
  for (let at = 1; at <= 200; at++) await bob.client.send(alias, `message ${at}.`)
  await alice.seesInList('Bob', 'message 200.')
  await alice.opens('Bob')
  /** What the row of a message says of its place. */
  const placeOf = async (text: string): Promise<string> => {
    const article = alice.page.getByRole('article').filter({ hasText: text })
    const row = alice.page.getByRole('listitem').filter({ has: article })
    return `${await row.getAttribute('aria-posinset')} of ${await row.getAttribute('aria-setsize')}`
  }
  const first = await alice.sees('message 1.')
  expect(await placeOf('message 1.')).toBe('1 of 200')
  await first.press('End')
  await alice.sees('message 200.')
  expect(await placeOf('message 200.')).toBe('200 of 200')
  const conversation = new URL(alice.page.url()).hash
  await alice.goesTo(`${conversation}?at=100`)
  await alice.sees('message 100.')
  expect(await placeOf('message 100.')).toBe('100 of 200')

  await alice.goesOffline()
  await alice.goesTo('#/chats')
  await alice.opens('Bob')
  for (const text of ['Not yet', 'sent']) await alice.writes(text)
  expect(await placeOf('message 200.')).toBe('200 of 202')
  expect(await placeOf('Not yet')).toBe('201 of 202')
  expect(await placeOf('sent')).toBe('202 of 202')
  await alice.goesTo(`${conversation}?at=20`)
  await alice.sees('message 20.')
  // Where the end is not known, no number is told.
  expect(await placeOf('message 20.')).toBe('20 of -1')
})
