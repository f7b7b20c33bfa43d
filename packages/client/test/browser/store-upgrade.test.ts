// An upgrade of a database with messages that an older program has written.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { BrowserContext, Page } from 'playwright-core'
import { conversationId, messageOf, otherConversationId, session } from '../stores/store-contract.ts'
import { openTab, type ServedApp, serveApp } from './chromium.ts'
import { inPage, storeIn } from './page-store.ts'
import { sharedChromium } from './shared-chromium.ts'

let app: ServedApp
let context: BrowserContext
let page: Page

beforeAll(async () => {
  app = await serveApp(join(import.meta.dir, 'stores-app.ts'))
  context = await (await sharedChromium()).newContext()
  page = await openTab(context, app)
})
afterAll(async () => {
  await context?.close()
  await app?.stop()
})

test('after an upgrade a list shows what an older program has stored, and counts what is unread', async () => {
  await inPage(page, 'makeDatabase', 'older', 6)
  const rows = [conversationId, otherConversationId].flatMap((id) =>
    [1, 2, 3, 4, 5, 6].map((seq) => ({
      message: {
        ...messageOf({ id: `${seq}`, seq, conversationId: id }),
        ...(seq === 5 ? { retracted: true } : {}),
        ...(seq === 6 ? { removed: true } : {}),
      },
      name: [id, 'them', `${seq}`],
      ...(seq === 6 ? {} : { order: [id, seq, 1] }),
      seq: [id, seq],
      peer: [id, seq],
    })),
  )
  await page.evaluate(
    ({ rows, mark, session }) =>
      new Promise<void>((resolve) => {
        const request = indexedDB.open('older')
        request.onsuccess = () => {
          const transaction = request.result.transaction(['messages', 'read_marks', 'sessions'], 'readwrite')
          for (const row of rows) transaction.objectStore('messages').put(row)
          transaction.objectStore('read_marks').put(mark)
          transaction.objectStore('sessions').put(session)
          transaction.oncomplete = () => {
            request.result.close()
            resolve()
          }
        }
      }),
    { rows, session, mark: { conversationId, readSeq: 3, toldSeq: 3 } },
  )
  await inPage(page, 'openStore', 'upgraded', 'older', false)
  const store = storeIn(page, 'upgraded')
  expect(await store.listSummaries([conversationId, otherConversationId])).toMatchObject([
    { conversationId, unread: 1, firstUnreadSeq: 4, lastMessage: { id: '5' } },
    // It has no session.
    { conversationId: otherConversationId, unread: 4, firstUnreadSeq: 1 },
  ])
  expect((await store.listMessages(conversationId)).length).toBe(5)
  await store.close()
})
