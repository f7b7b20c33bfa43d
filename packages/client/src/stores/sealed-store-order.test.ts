// The sealed store while it seals or opens secrets: calls keep their order, and an overwritten key is never
// used.
import { expect, test } from 'bun:test'
import { failureOf } from '../../../protocol/test/failure-of.ts'
import { identity, messageOf, otherConversationId, session } from '../../test/stores/store-contract.ts'
import { keyVault } from './key-vault.ts'
import { MemoryStore } from './memory-store.ts'
import { passphraseVault } from './passphrase-vault.ts'
import type { SessionRecord } from './records.ts'
import { SealedStore } from './sealed-store.ts'

const randomBytes = (length: number) => crypto.getRandomValues(new Uint8Array(length))
const key = randomBytes(32)
const seal = (store: MemoryStore) => SealedStore.open({ store, vaults: [keyVault(key)], randomBytes })
const other: SessionRecord = { ...session, conversationId: otherConversationId }

/** A store that records the order of its writes. */
class RecordingStore extends MemoryStore {
  readonly writes: string[] = []
  override async write(changes: Parameters<MemoryStore['write']>[0]): Promise<void> {
    this.writes.push(changes.map(({ change }) => change).join(' '))
    await super.write(changes)
  }
}

test('while a secret is being sealed, later writes and reads wait for it', async () => {
  const store = new RecordingStore()
  const sealed = await seal(store)
  store.writes.length = 0
  const message = messageOf({ id: 'm1' })
  const written = [
    sealed.write([{ change: 'message', message }]),
    sealed.write([{ change: 'session', session }]),
    sealed.write([]),
    sealed.write([{ change: 'identity', identity }]),
    sealed.write([{ change: 'message', message }]),
  ]
  expect(await sealed.listSessions()).toEqual([session])
  expect(await sealed.getIdentity()).toEqual(identity)
  await Promise.all(written)
  expect(store.writes).toEqual(['message', 'session', '', 'identity', 'message'])
})

test('a write that cannot be sealed does not block later calls', async () => {
  const sealed = await SealedStore.open({
    store: new MemoryStore(),
    vaults: [keyVault(key)],
    randomBytes: (() => {
      let left = 2
      return (length: number) => (left-- > 0 ? randomBytes(length) : new Uint8Array(0))
    })(),
  })
  const refused = sealed.write([{ change: 'session', session }])
  const after = sealed.write([{ change: 'message', message: messageOf({ id: 'm1' }) }])
  expect(await failureOf(refused)).toBeInstanceOf(Error)
  await after
  expect(await sealed.findMessage(session.conversationId, false, 'm1')).toBeDefined()
})

test('after locking, no secret is sealed with a key of zeros, and a secret being opened is not returned', async () => {
  const sealed = await seal(new MemoryStore())
  const written = sealed.write([
    { change: 'identity', identity },
    { change: 'session', session },
    { change: 'session', session: other },
  ])
  sealed.lock()
  await written
  await sealed.unlock()
  expect(await sealed.listSessions()).toEqual([session, other])

  const reads = [sealed.getIdentity(), sealed.listSessions()]
  // The memory store has answered, and the sealed store is opening the secrets.
  await null
  sealed.lock()
  for (const outcome of await Promise.allSettled(reads))
    expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'LOCKED' } })
})

test('a secret that is being sealed when the store is unsealed is stored in plain text', async () => {
  const store = new MemoryStore()
  const sealed = await SealedStore.open({ store, vaults: [passphraseVault()], randomBytes })
  await sealed.protect('a passphrase')
  const written = sealed.write([{ change: 'session', session }])
  await Promise.all([written, sealed.protect()])
  expect(await store.listSessions()).toEqual([session])
  expect(await sealed.listSessions()).toEqual([session])
})
