// The disk of the device is full: the app says so, shows nothing as sent that is not stored, keeps what was
// typed, and goes on once there is space.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { join } from 'node:path'
import { mountSmallDisk, type SmallDisk } from '../../relay/test/small-disk.ts'
import type { AppPerson } from './app-person.ts'
import { AppWorld } from './world.ts'

const world = new AppWorld()

let disk: SmallDisk
beforeEach(async () => {
  disk = await mountSmallDisk(200)
})
afterEach(() => disk.remove())

const withFullDisk = () => world.withFriend('Alice', 'Bob', { profile: join(disk.folder, 'profile') })

/**
 * Fills the disk and writes until the store fails. Chromium removes files of its own now and then, and so
 * stores a message on a disk that was full. Returns a text that was not stored.
 */
async function writesUntilFull(person: AppPerson): Promise<string> {
  const bar = person.page.getByText(person.t.store.failedTitle)
  for (let count = 1; !(await bar.isVisible()); count++) {
    disk.fillUpTo(0)
    await person.types(`while it is full ${count}`)
    await person.field.press('Enter')
    const sent = person.page
      .getByRole('article')
      .filter({ hasText: `while it is full ${count}` })
      .getByRole('img', { name: person.t.conversation.marks.delivered, exact: true })
    await bar.or(sent).first().waitFor()
  }
  // The last of them may have been stored, and not what followed it.
  const text = 'not stored'
  await person.types(text)
  await person.field.press('Enter')
  await person.finds(text)
  expect(await person.page.getByRole('article').filter({ hasText: text }).count()).toBe(0)
  return text
}

test('a message to a full disk goes back into the field, and is sent once there is space', async () => {
  const [alice, bob, toAlice] = await withFullDisk()
  await alice.opens('Bob')
  await alice.writes('before')
  await alice.sees('before', { mark: 'delivered' })
  const text = await writesUntilFull(alice)
  await alice.reads(alice.t.store.failedText)
  await bob.client.send(toAlice, 'from Bob')
  // What is typed stays when another place of the app is opened.
  await alice.types(`${text}, and more`)
  await alice.goesTo('#/chats')
  await alice.opens('Bob')
  await alice.finds(`${text}, and more`)

  disk.empty()
  await alice.page.evaluate(() => Reflect.set(globalThis, 'isSamePage', true))
  // The tab may go on by itself before the button is pressed.
  await alice.pressesUntilGone(alice.t.store.goOn, alice.t.store.failedTitle)
  await alice.sees('from Bob')
  await alice.finds(`${text}, and more`)
  // It is stored now, without another key: the tab keeps it no longer.
  await alice.page.waitForFunction(() => sessionStorage.length === 0)
  const page = alice.page
  await alice.comes()
  await alice.opens('Bob')
  await alice.finds(`${text}, and more`)
  await alice.page.close()
  alice.looksAt(page)
  await alice.field.press('Enter')
  await alice.sees(`${text}, and more`, { mark: 'delivered' })
  expect(await alice.page.evaluate(() => Reflect.get(globalThis, 'isSamePage'))).toBe(true)
  await bob.receives(`${text}, and more`)
  await alice.reloads()
  await alice.sees(`${text}, and more`, { mark: 'delivered' })
  await alice.finds('')
})

test('one tab goes on for all', async () => {
  const [alice, bob] = await withFullDisk()
  const first = alice.page
  await alice.opens('Bob')
  await alice.writes('before')
  await alice.comes()
  await alice.opens('Bob')
  const text = await writesUntilFull(alice)
  disk.empty()
  await alice.pressesUntilGone(alice.t.store.goOn, alice.t.store.failedTitle)
  await alice.finds(text)
  await alice.writes('from the second tab')
  await bob.receives('from the second tab')
  alice.looksAt(first)
  await alice.sees('from the second tab', { mark: 'delivered' })
  await alice.writes('from the first tab')
  await bob.receives('from the first tab')
  expect(await alice.page.getByText(alice.t.store.failedTitle).count()).toBe(0)
})

test('an app that is loaded while the disk is full says so, and starts once there is space', async () => {
  const [alice] = await withFullDisk()
  await alice.opens('Bob')
  const text = await writesUntilFull(alice)
  const failed = alice.page.getByText(alice.t.common.failedTitle)
  while (!(await failed.isVisible())) {
    disk.fillUpTo(0)
    await alice.reloads()
    await failed.or(alice.field).first().waitFor()
  }
  disk.empty()
  await alice.presses(alice.t.common.tryAgain)
  await alice.finds(text)
  await alice.field.press('Enter')
  await alice.sees(text, { mark: 'delivered' })
})
