// The window of messages of an open conversation, read from a real client.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { StoredMessage } from '@sotto/client'
import { type RelayProcess, startRelay } from '@sotto/relay/testing'
import { Person, until } from '../../client/test/people.ts'
import { MessagePages } from '../src/screens/conversation/message-pages.ts'

let relay: RelayProcess
beforeAll(async () => {
  relay = await startRelay()
})
afterAll(() => relay.stop())

test('a sent message is shown at once, one time only, and goes again if it cannot be stored', async () => {
  const [alice, bob] = [await Person.join('alice', relay.url), await Person.join('bob', relay.url)]
  const conversationId = await alice.befriend(bob)
  const first = await alice.client.send(conversationId, 'first')
  const failures: unknown[] = []
  const pages = new MessagePages(alice.client, conversationId, (error) => failures.push(error))
  const stop = pages.open('end')
  await until('the conversation is read', async () => pages.list.value?.length === 1)

  const id = crypto.randomUUID()
  const begun: StoredMessage = { ...first, id, text: 'second', status: 'sending' }
  const seen: string[][] = []
  const unsubscribe = pages.list.subscribe((list) => seen.push((list ?? []).map(({ text }) => text)))
  pages.begin(begun)
  expect(pages.list.value?.at(-1)).toBe(begun)
  await alice.client.send(conversationId, 'second', { id })
  await until('the stored message is shown', async () => pages.list.value?.at(-1)?.seq !== undefined)
  expect(new Set(seen.map(String))).toEqual(new Set(['first', 'first,second']))

  const refused = crypto.randomUUID()
  pages.begin({ ...begun, id: refused })
  pages.withdraw(refused)
  expect(pages.list.value?.map(({ text }) => text)).toEqual(['first', 'second'])
  unsubscribe()
  stop()
  expect(failures).toEqual([])
  await Promise.all([alice.client.close(), bob.client.close()])
})
