// The sealed store while it seals or opens, which takes time: nothing overtakes, and no key of zeros is used.
import { expect, test } from 'bun:test'
import { keyVault } from './key-vault.ts'
import { MemoryStore } from './memory-store.ts'
import type { SessionRecord } from './records.ts'
import { SealedStore } from './sealed-store.ts'
import { identity, messageOf, otherConversationId, session } from './store-contract.ts'

const randomBytes = (length: number) => crypto.getRandomValues(new Uint8Array(length))
const key = randomBytes(32)
const seal = (store: MemoryStore) => SealedStore.open({ store, vaults: [keyVault(key)], randomBytes })
const other: SessionRecord = { ...session, conversationId: otherConversationId }

/** A store that says in what order it was written to. */
class ToldStore extends MemoryStore {
  readonly told: string[] = []
  override async write(changes: Parameters<MemoryStore['write']>[0]): Promise<void> {
    this.told.push(changes.map(({ change }) => change).join(' '))
    await super.write(changes)
  }
}

test('while a secret is sealed no write and no read overtakes what is being sealed', async () => {
  const store = new ToldStore()
  const sealed = await seal(store)
  store.told.length = 0
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
  expect(store.told).toEqual(['message', 'session', '', 'identity', 'message'])
})

test('a write that cannot be sealed holds up nothing', async () => {
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
  await expect(refused).rejects.toThrow()
  await after
  expect(await sealed.findMessage(session.conversationId, false, 'm1')).toBeDefined()
})

test('locking seals nothing with a key of zeros, and gives away nothing that was being opened', async () => {
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
  // The store has answered, and the secrets are being opened.
  await null
  sealed.lock()
  for (const outcome of await Promise.allSettled(reads))
    expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'LOCKED' } })
})
