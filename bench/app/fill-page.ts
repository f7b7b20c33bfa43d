// The page that fills a browser's store before the app is measured: the app's client, without the app.
import { deviceKeyVault, SharedClient } from '../../packages/client/src/browser.ts'

const page = {
  isReady: true,
  /** Recovers the account, and resolves when all of its conversations and all that waited have come. */
  recover: async (mnemonic: string, conversations: number, waiting: number): Promise<void> => {
    const client = await SharedClient.open({
      name: 'sotto',
      relayUrl: location.origin,
      secrets: [deviceKeyVault()],
    })
    let count = 0
    const received = Promise.withResolvers<void>()
    client.on('message', () => {
      count += 1
      if (count === waiting) received.resolve()
    })
    client.on('error', (error) => received.reject(error))
    await client.recover({ mnemonic })
    await client.connect()
    await received.promise
    const list = await client.conversations()
    if (list.length !== conversations) throw new Error(`there are ${list.length} conversations`)
    opened = client
  },
  /** Answers each conversation whose number divides by `step`, and reads all except each fifth. */
  answer: async (step: number): Promise<void> => {
    const client = theClient()
    const list = await client.conversations()
    for (const [index, { conversationId }] of list.entries()) {
      if (index % 5 !== 0) await client.markRead(conversationId)
      if (index % step === 0) await client.send(conversationId, `Answer ${index}`)
    }
  },
  /** Sends these texts to a contact, and resolves when the relay has them all. */
  send: async (contact: string, texts: readonly string[]): Promise<void> => {
    const client = theClient()
    let last: string | undefined
    const sent = Promise.withResolvers<void>()
    const stop = client.on('status_change', ({ message }) => {
      if (message.id === last && message.status !== 'sending') sent.resolve()
    })
    const stored = await Promise.all(texts.map((text) => client.send(contact, text)))
    last = stored.at(-1)?.id
    const [latest] = (await client.messages(contact, { limit: texts.length })).filter(({ id }) => id === last)
    if (latest?.status === 'sending') await sent.promise
    stop()
  },
  /** Reads a conversation once its last message has this text. */
  read: async (contact: string, text: string): Promise<void> => {
    const client = theClient()
    const came = Promise.withResolvers<void>()
    const stop = client.on('message', (message) => {
      if (message.text === text) came.resolve()
    })
    const [latest] = await client.messages(contact, { limit: 1 })
    if (latest?.text !== text) await came.promise
    stop()
    await client.markRead(contact)
  },
  close: async (): Promise<void> => theClient().close(),
}

let opened: SharedClient | undefined

function theClient(): SharedClient {
  if (!opened) throw new Error('no account is open')
  return opened
}

/** The functions that the benchmark calls in the page. */
export type FillPage = typeof page

Object.assign(globalThis, page)
