// Stories of people who talk.
import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { AppWorld } from './world.ts'

const world = new AppWorld({}, { keepsApp: true })

test('friends talk, and see what was read', async () => {
  const [alice, bob] = await world.friends('Alice', 'Bob')
  await alice.opens('Bob')
  await alice.writes('Are you there?')
  await bob.seesInList('Alice', 'Are you there?')
  await alice.sees('Are you there?', { mark: 'delivered' })
  await bob.opens('Alice')
  await bob.sees('Are you there?')
  await alice.sees('Are you there?', { mark: 'read' })
  await bob.writes('Yes!')
  await alice.sees('Yes!')
})

test('somebody is away, is written to, and comes back', async () => {
  const [alice, bob] = await world.friends('Alice', 'Bob')
  await alice.opens('Bob')
  await bob.leaves()
  await alice.writes('Come back')
  await alice.writes('when you can')
  await alice.sees('when you can', { mark: 'sent' })
  await bob.comes()
  await bob.seesInList('Alice', bob.t.common.unread(2))
  await bob.opens('Alice')
  await bob.sees('Come back')
  await alice.sees('when you can', { mark: 'read' })
})

test('what is typed without a connection is sent when it is back, in its order', async () => {
  const [alice, bob] = await world.friends('Alice', 'Bob')
  await alice.opens('Bob')
  await alice.goesOffline()
  await alice.writes('first')
  await alice.writes('second')
  await alice.sees('first', { mark: 'sending' })
  await alice.reads(alice.t.common.offlineHint)
  await alice.goesOnline()
  await bob.opens('Alice')
  await bob.sees('second')
  const texts = await bob.page.getByRole('article').allInnerTexts()
  expect(texts.map((text) => /first|second/.exec(text)?.[0])).toEqual(['first', 'second'])
})

test('a draft survives a reload', async () => {
  const [alice] = await world.withFriend('Alice', 'Bob')
  await alice.opens('Bob')
  await alice.waitsUntilKept()
  await alice.types('Not finished')
  await alice.reloads()
  await alice.finds('Not finished')
})

test('a draft survives a reload while the device stores slowly', async () => {
  const [alice] = await world.withFriend('Alice', 'Bob')
  await alice.opens('Bob')
  await alice.waitsUntilKept()
  const first = alice.page
  await alice.comes()
  await occupyStore(alice.page, 2500)
  alice.looksAt(first)
  await alice.types('Not finished')
  await alice.reloads()
  await alice.finds('Not finished')
})

test('a second tab shows the same, and writes, too', async () => {
  const [alice, bob] = await world.friends('Alice', 'Bob')
  await alice.opens('Bob')
  const first = alice.page
  await alice.comes()
  await alice.opens('Bob')
  await alice.writes('from the second tab')
  alice.looksAt(first)
  await alice.sees('from the second tab')
  await first.close()
  await bob.opens('Alice')
  await bob.writes('answer')
  alice.looksAt(alice.context.pages()[0] ?? first)
  await alice.sees('answer')
})

/** From now on all writes into the app's store wait for this time, for a transaction of this page. */
function occupyStore(page: Page, forMs: number): Promise<void> {
  return page.evaluate(async (forMs) => {
    const opening = indexedDB.open('sotto')
    const database = await new Promise<IDBDatabase>((resolve) => {
      opening.onsuccess = () => resolve(opening.result)
    })
    const names = [...database.objectStoreNames]
    const table = database.transaction(names, 'readwrite').objectStore(names[0] ?? '')
    const end = performance.now() + forMs
    await new Promise<void>((resolve) => {
      const read = (): void => {
        // A transaction lasts for as long as something is asked of it.
        table.get('nothing').onsuccess = () => {
          resolve()
          if (performance.now() < end) read()
          else database.close()
        }
      }
      read()
    })
  }, forMs)
}
