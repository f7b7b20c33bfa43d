// A hostile relay and a hostile friend, as the app shows them: no script runs, nothing is asked of anybody
// else, and the page never freezes.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { friendOf, HostileRelay, makePeer } from '../../client/test/hostile-relay.ts'
import { until } from '../../client/test/people.ts'
import { longestTask } from './longest-task.ts'
import { expectUnharmed, FREEZE_MS, TRICKS, victimOf } from './victim.ts'
import { AppWorld } from './world.ts'

const world = new AppWorld()

let relay: HostileRelay
beforeEach(() => {
  relay = new HostileRelay()
})
afterEach(() => relay.stop())

test('what a hostile friend writes is text, and freezes nothing', async () => {
  const mallory = makePeer('mallory')
  const hurt = await victimOf(world, relay, [mallory])
  const { person, says } = hurt
  const longestMs = await longestTask(person.page, async () => {
    says(mallory, 'first')
    await person.opens('mallory')
    for (const trick of TRICKS) says(mallory, trick)
    for (let count = 0; count < 300; count++) says(mallory, `${count} ${TRICKS[count % 6]}`)
    says(mallory, 'the last one')
    await person.seesInList('mallory', 'the last one')
    const last = person.page.getByRole('article').filter({ hasText: 'the last one' })
    const toEnd = person.page.getByRole('button', { name: person.t.conversation.toEnd })
    await until('the last one is in view', async () => {
      // The button is gone when the list has followed meanwhile.
      await toEnd.evaluateAll((all: HTMLElement[]) => {
        for (const button of all) button.click()
      })
      return last.isVisible()
    })
    await person.page.keyboard.press('Home')
    await person.settles()
  })
  await expectUnharmed(hurt)
  expect(longestMs).toBeLessThan(FREEZE_MS)
})

test('names that a hostile relay gives are text, wherever they are shown', async () => {
  const peers = TRICKS.map((_, at) => makePeer(`mallory${at}`))
  const hurt = await victimOf(world, relay, peers)
  const { person, says } = hurt
  const nicknames = TRICKS.map((trick) => trick.slice(0, 64))
  relay.friends = peers.map((peer, at) =>
    friendOf(peer, {
      nickname: nicknames[at],
      ...(at % 3 === 0 ? { status: 'pending', direction: 'received' } : {}),
    }),
  )
  const longestMs = await longestTask(person.page, async () => {
    await person.reloads()
    await person.chats.waitFor()
    await person.page.getByRole('list').getByRole('link').first().waitFor()
    for (const [at, peer] of peers.entries()) if (at % 3 !== 0) says(peer, TRICKS[at] ?? '')
    await person.goesTo('#/contacts')
    for (const { conversationId } of peers.slice(0, 4)) {
      await person.goesTo(`#/contacts/${conversationId}`)
      await person.goesTo(`#/chats/${conversationId}`)
    }
  })
  await expectUnharmed(hurt)
  expect(longestMs).toBeLessThan(FREEZE_MS)
})

test('frames of any shape stop nothing', async () => {
  const bob = makePeer('bob')
  const hurt = await victimOf(world, relay, [bob])
  const { person, says } = hurt
  const conv_id = bob.conversationId
  const rubbish: (string | Record<string, unknown>)[] = [
    ...['', '{', 'null', '[]', '"msg"', '{"type":5}', '{"type":"__proto__"}', '[['.repeat(5000)],
    ...[{ type: 'msg' }, { type: 'unheard_of' }, { type: 'goaway', reason: TRICKS[0] }],
    { type: 'error', error: '<img src=x onerror=alert(1)>', message: TRICKS[0], id: 'x' },
    { type: 'read', conv_id, seq: 2 ** 53, to: relay.aliasId, from: 'bob' },
    { type: 'typing', conv_id, from: '<b>', to: relay.aliasId },
    { type: 'friend_request', friendship_id: 2 ** 60, from: '<b>', nickname: TRICKS[1] },
    { type: 'friend_accepted', friendship_id: -1, from: 'mallory', conv_id: '../..' },
    { type: 'call_offer', call_id: TRICKS[0], conv_id, from: 'bob', payload: 'x' },
  ]
  const longestMs = await longestTask(person.page, async () => {
    for (let times = 0; times < 20; times++) for (const frame of rubbish) relay.send(frame)
    says(bob, 'still here')
    await person.seesInList('bob', 'still here')
  })
  await person.opens('bob')
  await person.sees('still here')
  await expectUnharmed(hurt)
  expect(longestMs).toBeLessThan(FREEZE_MS)
})

test('the keys of a friend change: nothing is sent to them, and nothing from them is shown', async () => {
  const bob = makePeer('bob')
  const { person, says } = await victimOf(world, relay, [bob])
  says(bob, 'with the old keys')
  await person.opens('bob')
  await person.sees('with the old keys')
  const other = makePeer('bob', bob.conversationId)
  relay.friends = [friendOf(other)]
  const syncs = relay.framesOf('sync').length
  relay.close(1012)
  await until('the app has connected again', () => relay.framesOf('sync').length > syncs)
  says(other, 'with other keys')
  // Until the app has read the list of friends again, it knows nothing of the other keys.
  await person.reads(person.t.common.keysChangedLook)
  await person.types('for the old friend only')
  await person.field.press('Enter')
  await person.reads(person.t.errors.codes.KEY_CHANGED ?? '')
  expect(relay.framesOf('msg')).toEqual([])
  expect(await person.page.getByText('with other keys').count()).toBe(0)
})
