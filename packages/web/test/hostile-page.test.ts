// Attacks on the page itself: links that were made to harm, pushes and messages to its service worker that
// nobody honest sends, and marks that are piled up to cover what is beside them.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { HostileRelay, makePeer } from '../../client/test/hostile-relay.ts'
import { until } from '../../client/test/people.ts'
import { longestTask } from './longest-task.ts'
import { expectUnharmed, FREEZE_MS, TRICKS, victimOf } from './victim.ts'
import { AppWorld } from './world.ts'

const world = new AppWorld({}, { keepsApp: true })
let relay: HostileRelay
beforeEach(() => {
  relay = new HostileRelay()
})
afterEach(() => relay.stop())

test('an address of the app can hold anything, and the app goes on', async () => {
  const hurt = await victimOf(world, relay)
  const { person } = hurt
  const longestMs = await longestTask(person.page, async () => {
    for (const place of [
      // Each is as long as Chromium writes it. Megabytes take Chromium itself longer than a page may freeze.
      ...['a', '%', '/', '../', '%2e%2e/', '\u202e'].map(
        (piece) => `#/add/${piece.repeat(330_000 / encodeURI(piece).length)}`,
      ),
      ...TRICKS.slice(0, 10).flatMap((trick) => [`#/add/${trick}`, `#/chats/${encodeURIComponent(trick)}`]),
      ...[
        '#/__proto__',
        '#/constructor/x',
        '#/%E0%A4%A',
        '#/settings/__proto__',
        `#/search?q=${'('.repeat(100_000)}`,
      ],
      `#/add/anna_5?relay=javascript:alert(1)`,
      `#/add/anna_5?relay=${'https://'.repeat(40_000)}`,
    ])
      await person.goesTo(place)
    await person.goesTo('#/chats')
    await person.chats.waitFor()
  })
  await expectUnharmed(hurt)
  expect(longestMs).toBeLessThan(FREEZE_MS)
})

test('pushes of any content notify in the words of the app, and messages to the worker do nothing', async () => {
  const hurt = await victimOf(world, relay)
  const { person } = hurt
  const { page, context } = person
  await person.waitsUntilKept()
  const origin = new URL(page.url()).origin
  await context.grantPermissions(['notifications'], { origin })
  const devtools = await context.newCDPSession(page)
  const registrationId = new Promise<string>((resolve) => {
    devtools.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
      const [own] = registrations.filter(({ scopeURL }) => scopeURL.startsWith(origin))
      if (own) resolve(own.registrationId)
    })
  })
  await devtools.send('ServiceWorker.enable')
  const push = { origin, registrationId: await registrationId }
  const titles = (): Promise<string[]> =>
    page.evaluate(async () => {
      const shown = await (await navigator.serviceWorker.ready).getNotifications()
      return shown.map(({ title, body }) => title + body)
    })
  // DevTools delivers a push once, also if the browser could not start the worker for it in time.
  const delivers = async (data: string, shown: number): Promise<void> => {
    await until('the notification is shown', async () => {
      await devtools.send('ServiceWorker.deliverPushMessage', { ...push, data })
      return until('it', async () => (await titles()).length === shown, 2000).catch(() => false)
    })
  }
  for (const data of ['', '{', 'null', '{"type":"message","title":"Your bank","body":"Log in"}', ...TRICKS]) {
    await delivers(data, 1)
    expect(await titles()).toEqual([person.t.updates.pushed.message])
  }
  await delivers('{"type":"call","from":"<b>"}', 2)
  expect((await titles()).toSorted()).toEqual(Object.values(person.t.updates.pushed).toSorted())

  await page.evaluate(async () => {
    const { active } = await navigator.serviceWorker.ready
    for (const message of ['take over', 'TAKE OVER', '', null, { type: 'take over' }, ['take over']])
      active?.postMessage(message)
  })
  await person.reloads()
  await person.chats.waitFor()
  await expectUnharmed(hurt)
})

test('marks piled on a letter cover nothing outside of their own message', async () => {
  const bob = makePeer('bob')
  const { person, says } = await victimOf(world, relay, [bob])
  says(bob, 'calm')
  await person.goesTo(`#/chats/${bob.conversationId}`)
  await person.sees('calm')
  await person.page.mouse.move(0, 0)
  await person.settles()
  const calm = await (await person.sees('calm')).boundingBox()
  if (!calm) throw new Error('the message has no place')
  const around = { x: calm.x, y: calm.y - 40, width: 100, height: 38 }
  const before = await person.page.screenshot({ clip: around })
  says(bob, `e${'\u0301'.repeat(400)}`)
  await person.page.getByRole('article').nth(1).waitFor()
  await person.settles()
  const moved = await (await person.sees('calm')).boundingBox()
  expect(await person.page.screenshot({ clip: { ...around, y: (moved?.y ?? 0) - 40 } })).toEqual(before)
})
