// The app in a private window of Firefox, which gives pages no files: the key of version 3's keys is in the
// database there, and everything works.
import { expect, test } from 'bun:test'
import { until } from '../../client/test/people.ts'
import { english as en } from './all-texts.ts'
import { EngineWorld, STORY_MS } from './engines/engine-world.ts'
import { startFirefox } from './engines/firefox.ts'
import { aliceAndBob } from './engines/more-stories.ts'

const world = new EngineWorld(() => startFirefox({ 'browser.privatebrowsing.autostart': true }))

/** The names of the secrets in the database. */
const SECRETS = `new Promise((resolve, reject) => {
  const opening = indexedDB.open('sotto')
  opening.onerror = () => reject(opening.error)
  opening.onsuccess = () => {
    const names = opening.result.transaction('secrets').objectStore('secrets').getAllKeys()
    names.onsuccess = () => { opening.result.close(); resolve(names.result) }
  }
})`

test(
  'without files of its own, the app keeps the key in the database, and nothing fails',
  async () => {
    const [alice, bob] = await aliceAndBob(world.engine, world.relay)
    await alice.writes('from a private window')
    const { conversationId } = await bob.receives('from a private window')
    await bob.client.send(conversationId, 'I see')
    await alice.sees('I see')
    await until('the key is in a slot of the database', async () =>
      String(await alice.tab.compute(SECRETS)).includes('slot '),
    )
    expect(await alice.tab.compute('document.body.innerText')).not.toContain(en.store.failedTitle)
    await alice.tab.close()
    await bob.client.close()
  },
  STORY_MS,
)
