// All measurements of the app, with sizes that are given.
import { builtApp } from '../../packages/web/test/built-app.ts'
import { textsOf } from '../load/search-corpus.ts'
import { startMeasuredRelay } from '../server-process.ts'
import { measureArrivals } from './arrivals.ts'
import { measureConversation, measureReload, NEWEST } from './conversation.ts'
import type { Figure } from './figures.ts'
import { measureFirstLoad } from './first-load.ts'
import { measureHeap } from './heap.ts'
import { FilledProfile } from './measured-browser.ts'
import { type Account, makeAccount, makeFriends, sendAll } from './people.ts'
import type { Sizes } from './sizes.ts'

/** The parts of the measurement, by the names of `--only`. */
export const PARTS = ['first-load', 'list', 'conversation', 'arrivals', 'heap'] as const
export type Part = (typeof PARTS)[number]

/** How many messages the two sides of the long conversation write in turn. */
const IN_A_ROW = { friend: 180, user: 20 }

/** Starts a relay that serves the app, fills browsers with what they need, and yields what it measures. */
export async function* measureApp(parts: ReadonlySet<Part>, sizes: Sizes): AsyncGenerator<Figure> {
  const { few, many, rounds } = sizes
  const relay = await startMeasuredRelay({ APP_DIR: builtApp() })
  const { url } = relay
  if (parts.has('first-load')) yield await measureFirstLoad(url)
  const friends = await makeFriends(url, parts.has('list') ? Math.max(few, many) : few)
  if (parts.has('list')) {
    const account = await makeAccount(url, 'Many', friends.slice(0, many))
    const profile = await FilledProfile.make(url, account, (call) => call('answer', 2))
    yield await measureReload(profile, rounds, 1200)
    await profile.remove()
  }
  const profile = await fillConversation(url, await makeAccount(url, 'Few', friends.slice(0, few)), sizes)
  if (parts.has('list')) yield await measureReload(profile, rounds, 800)
  if (parts.has('conversation')) yield* await measureConversation(profile, sizes)
  if (parts.has('arrivals')) yield* await measureArrivals(profile, sizes)
  if (parts.has('heap')) yield* await measureHeap(profile, sizes)
  await profile.remove()
  for (const { client } of friends) await client.close()
  await relay.stop()
}

/** An account with a long conversation, in which both sides have written. */
function fillConversation(url: string, account: Account, { messages }: Sizes): Promise<FilledProfile> {
  const { friend, alias } = account
  return FilledProfile.make(url, account, async (call) => {
    await call('answer', 2)
    const texts = textsOf(messages)
    while (texts.length > 0) {
      await sendAll(friend, alias, texts.splice(0, IN_A_ROW.friend))
      await call('send', friend.alias, texts.splice(0, IN_A_ROW.user))
    }
    await sendAll(friend, alias, [NEWEST])
    await call('read', friend.alias, NEWEST)
  })
}
