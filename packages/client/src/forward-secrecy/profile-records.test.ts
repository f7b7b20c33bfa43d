// Which stored names of contacts are shown.
import { expect, test } from 'bun:test'
import { ConversationId, check } from '@sotto/protocol'
import { MemoryStore } from '../stores/stores.ts'
import { namesOfContacts, peerChange, readProfiles } from './profile-records.ts'

const conversationId = check(ConversationId, crypto.randomUUID())
const KEY = 'the key of Bob'

async function namesWith(key: string, store: MemoryStore): Promise<string[]> {
  const session = { conversationId, theirEcdhPublicKey: key } as const
  return namesOfContacts(await readProfiles(store), [session]).map(({ name }) => name)
}

test('a name belongs to the keys that said it', async () => {
  const store = new MemoryStore()
  await store.write([peerChange(conversationId, { name: 'Bob', at: 1, key: KEY })])
  expect([await namesWith(KEY, store), await namesWith('another key', store)]).toEqual([['Bob'], []])
})

test('what a later version stored is passed by', async () => {
  const store = new MemoryStore()
  const change = peerChange(conversationId, { name: 'Bob', at: 1, key: KEY })
  if (change.change !== 'app_data') throw new Error('not a value')
  for (const value of ['', 'no JSON', '{}', '{"name":"\\n","at":1,"key":"the key of Bob"}']) {
    await store.write([{ ...change, record: { ...change.record, value } }])
    expect(await namesWith(KEY, store)).toEqual([])
  }
})
