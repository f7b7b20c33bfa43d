// The page of the benchmark of version 3: two courses in memory, and a client whose messages wait.
import { IndexedDbStore } from '../../packages/client/src/browser.ts'
import { SottoClient } from '../../packages/client/src/client.ts'
import { forwardSecrecy } from '../../packages/client/src/forward-secrecy/entry.ts'
import { measureAway, measureCourses } from './course-figures.ts'

let opened: SottoClient | undefined

function client(): SottoClient {
  if (!opened) throw new Error('no client is open')
  return opened
}

/** Connects. Resolves when everything that waited is stored. */
async function connect(): Promise<void> {
  const synced = Promise.withResolvers<void>()
  const stop = client().on('synced', () => synced.resolve())
  client().connect()
  await synced.promise
  stop()
}

const page = {
  isReady: true,
  measureAway,
  measureCourses,

  /** Makes an account that accepts every friend. Returns its alias. */
  join: async (relayUrl: string): Promise<string> => {
    const store = await IndexedDbStore.open('secrecy')
    opened = await SottoClient.open({ relayUrl, store, forwardSecrecy: forwardSecrecy() })
    opened.on('friend_request', ({ friendship_id }) => {
      opened?.acceptFriend(friendship_id).catch(reportError)
    })
    await opened.create({ nickname: 'page' })
    await connect()
    return opened.identity?.aliasId ?? ''
  },

  /** Answers every message of a friend until both send under version 3. Resolves then. */
  talk: async (contact: string): Promise<void> => {
    await client().syncFriends()
    const both = Promise.withResolvers<void>()
    const stop = client().on('message', async ({ version }) => {
      const answer = await client().send(contact, 'from the page')
      if (version === 3 && answer.version === 3) both.resolve()
    })
    await client().send(contact, 'from the page')
    await both.promise
    stop()
  },

  disconnect: async (): Promise<void> => client().disconnect(),

  /** Connects. Returns how many milliseconds passed until a text of a contact was stored. */
  catchUp: async (contact: string, lastText: string): Promise<number> => {
    const arrived = Promise.withResolvers<void>()
    const stop = client().on('message', ({ text }) => {
      if (text === lastText) arrived.resolve()
    })
    const startedAt = performance.now()
    client().connect()
    await arrived.promise
    const ms = performance.now() - startedAt
    stop()
    const [last] = await client().messages(contact, { limit: 1 })
    if (last?.version !== 3) throw new Error('the messages did not come under version 3')
    return ms
  },

  close: (): Promise<void> => client().close(),
}

/** The functions that the benchmark calls in the page. */
export type SecrecyPage = typeof page

Object.assign(globalThis, page)
