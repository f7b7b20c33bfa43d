// Measures in a real Chromium how long a page takes from loading to its first message.
import { join } from 'node:path'
import { startRelay } from '@sotto/relay/testing'
import { Person, until } from '../people.ts'
import type { AppSettings } from './app.ts'
import { AppTab, prepare } from './app-tab.ts'
import { serveApp, startChromium } from './chromium.ts'

/** Milliseconds since the page began to load. */
interface Round {
  readonly connected: number
  readonly sent: number
}

/** Measures pages that a registered user loads, with the identity in the store. */
export async function measureFirstMessage(rounds: number): Promise<readonly Round[]> {
  const [relay, app, browser] = await Promise.all([
    startRelay(),
    serveApp(join(import.meta.dir, 'app.ts')),
    startChromium(),
  ])
  const bob = await Person.join('bob', relay.url)
  try {
    const context = await browser.newContext()
    await prepare(context, { relayUrl: relay.url })
    const alice = await AppTab.open(context, app)
    await alice.register('alice')
    await alice.call('requestFriend', bob.alias)
    const request = await until('the request arrives', () => bob.heard.friend_request[0])
    await bob.client.acceptFriend(request.friendship_id)
    await until('the acceptance arrives', async () => (await alice.heard('friend_accepted')).length > 0)

    const settings: AppSettings = { relayUrl: relay.url, firstMessageTo: bob.alias }
    await prepare(context, settings)
    const measured: Round[] = []
    for (let round = 0; round < rounds; round += 1) {
      await alice.reload()
      measured.push(
        await until('the first message is acknowledged', () =>
          alice.page.evaluate(() => {
            const { connected, sent } = globalThis.app.marks
            return connected !== undefined && sent !== undefined && { connected, sent }
          }),
        ),
      )
    }
    return measured
  } finally {
    await bob.client.close()
    await browser.close()
    await app.stop()
    await relay.stop()
  }
}
