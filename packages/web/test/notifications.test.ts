// Stories of notifications while nobody looks at the page: what they say, and where a click leads.
import { expect, test } from 'bun:test'
import { until } from '../../client/test/people.ts'
import type { AppPerson } from './app-person.ts'
import { AppWorld } from './world.ts'

const world = new AppWorld({}, { keepsApp: true })

test('a notification tells no more than the user has chosen, and is gone once the user looks', async () => {
  const [alice, bob, toAlice] = await world.withFriend('Alice', 'Bob')
  const { device } = alice.t
  await chooses(alice, device.noticeDetails.hidden)
  await bob.client.send(toAlice, 'The key is under the mat')
  await alice.goesTo('#/chats')
  await alice.seesInList('Bob', 'The key is under the mat')

  await looksAway(alice)
  await bob.client.send(toAlice, 'And the lamp is on')
  const first = `${device.noticeOfMessage}: `
  expect(await told(alice, 1)).toEqual([first])
  await looksBack(alice)
  await until('nothing is shown any more', async () => (await countShown(alice)) === 0)

  await chooses(alice, device.noticeDetails.text)
  await looksAway(alice)
  await bob.client.send(toAlice, 'Come in')
  expect(await told(alice, 2)).toEqual([first, 'Bob: Come in'])
  await looksBack(alice)

  await chooses(alice, device.noticeDetails.sender)
  await looksAway(alice)
  await bob.client.send(toAlice, 'Are you there?')
  expect(await told(alice, 3)).toEqual([first, 'Bob: Come in', 'Bob: '])
  await clicksNotification(alice)
  await alice.sees('Are you there?')
})

test('nothing is told of a muted conversation', async () => {
  const [alice, bob, toAlice] = await world.withFriend('Alice', 'Bob')
  await chooses(alice, alice.t.device.noticeDetails.text)
  await alice.goesTo('#/chats')
  await alice.doesWith('Bob', alice.t.chats.muteHours)
  await alice.seesInList('Bob', alice.t.chats.muted)
  await looksAway(alice)
  await bob.client.send(toAlice, 'one')
  await alice.seesInList('Bob', 'one')
  await alice.doesWith('Bob', alice.t.chats.unmute)
  const muted = alice.conversationWith('Bob').filter({ hasText: alice.t.chats.muted })
  await muted.waitFor({ state: 'detached' })
  await bob.client.send(toAlice, 'two')
  expect(await told(alice, 1)).toEqual(['Bob: two'])
})

declare global {
  /** What the page has told by notifications, each shown completely. */
  var notified: string[] | undefined
}

/** Chooses what notifications may say, and allows them. */
async function chooses(person: AppPerson, detail: string): Promise<void> {
  // The browsers of the tests keep nothing on the disk, and such browsers have no push.
  person.expects(/Push API in incognito mode/)
  await person.context.grantPermissions(['notifications', 'clipboard-read', 'clipboard-write'])
  await person.goesTo('#/settings/notices')
  await person.page.getByLabel(detail, { exact: true }).check()
  await person.page.evaluate(() => {
    if (globalThis.notified) return
    const list: string[] = []
    globalThis.notified = list
    // Chromium erases a notification if the page lists notifications while it is being shown.
    const { prototype } = ServiceWorkerRegistration
    const show = prototype.showNotification
    prototype.showNotification = async function (title, options) {
      await show.call(this, title, options)
      list.push(`${title}: ${options?.body}`)
    }
  })
}

/** Looks at something else. Playwright keeps every tab visible, so the page is told that it is not. */
async function looksAway(person: AppPerson): Promise<void> {
  await person.page.evaluate(() => {
    Object.defineProperty(document, 'hidden', { configurable: true, get: () => true })
    Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => 'hidden' })
    document.dispatchEvent(new Event('visibilitychange'))
  })
}

async function looksBack(person: AppPerson): Promise<void> {
  await person.page.evaluate(() => {
    Reflect.deleteProperty(document, 'hidden')
    Reflect.deleteProperty(document, 'visibilityState')
    document.dispatchEvent(new Event('visibilitychange'))
  })
}

/** What was told until now, once that is this often. */
async function told(person: AppPerson, count: number): Promise<readonly string[]> {
  const list = () => person.page.evaluate(() => globalThis.notified ?? [])
  await until('the notification is shown', async () => (await list()).length >= count)
  return list()
}

async function countShown(person: AppPerson): Promise<number> {
  return person.page.evaluate(async () => {
    const registration = await navigator.serviceWorker.ready
    return (await registration.getNotifications()).length
  })
}

/** The service worker's globals that a click needs. */
interface WorkerGlobals {
  readonly registration: { getNotifications(): Promise<Notification[]> }
  readonly WindowClient: { prototype: { focus(): Promise<unknown> } }
  readonly NotificationEvent: new (type: string, init: { notification: unknown }) => Event
}

/** Clicks the notification. A headless browser shows none, so the worker is told of the click. */
async function clicksNotification(person: AppPerson): Promise<void> {
  const [worker] = person.context.serviceWorkers()
  await worker?.evaluate(async () => {
    const { registration, WindowClient, NotificationEvent } = globalThis as unknown as WorkerGlobals
    // A worker may bring a page to the front after a real click only.
    WindowClient.prototype.focus = async () => undefined
    const [notification] = await registration.getNotifications()
    dispatchEvent(new NotificationEvent('notificationclick', { notification }))
  })
}
