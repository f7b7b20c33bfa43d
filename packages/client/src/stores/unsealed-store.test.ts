// Unsealing a store: one write unseals all secrets or none, and writes made meanwhile are neither lost nor
// left sealed.
import { afterAll, expect, test } from 'bun:test'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { identity, otherConversationId, session } from '../../test/stores/store-contract.ts'
import { FileStore } from './file-store.ts'
import { keyVault } from './key-vault.ts'
import { MemoryStore } from './memory-store.ts'
import type { SessionRecord } from './records.ts'
import { SealedStore } from './sealed-store.ts'
import type { ClientStore } from './store.ts'

const randomBytes = (length: number) => crypto.getRandomValues(new Uint8Array(length))
/** A vault for a passphrase without the slow key derivation. */
const vault = { ...keyVault(randomBytes(32)), needsPassphrase: true }
const seal = (store: ClientStore) => SealedStore.open({ store, vaults: [vault], randomBytes })
const openFile = (folder: string) => FileStore.open(folder)

const folder = await mkdtemp(join(tmpdir(), 'sotto-laid-open-'))
afterAll(() => rm(folder, { recursive: true }))

const other: SessionRecord = { ...session, conversationId: otherConversationId }
const everything = [
  { change: 'identity', identity },
  { change: 'session', session },
  { change: 'session', session: other },
] as const

async function expectWhole(store: ClientStore): Promise<void> {
  expect(await store.getIdentity()).toEqual(identity)
  expect(await store.listSessions()).toEqual([session, other])
}

test('a crash while a store is being unsealed leaves either all secrets sealed or none', async () => {
  const sealed = await seal(await openFile(folder))
  await sealed.protect('whatever it is')
  await sealed.write(everything)
  await sealed.close()
  const before = await readFile(join(folder, 'store.log'))
  const opening = await seal(await openFile(folder))
  await opening.unlock('whatever it is')
  await opening.protect(undefined)
  expect([opening.isSealed, opening.isLocked]).toEqual([false, false])
  await expectWhole(opening)
  await opening.close()
  const after = await readFile(join(folder, 'store.log'))
  expect(after.toString()).toContain(identity.mnemonic)
  for (let length = 0; length < after.length; length += 101) {
    await writeFile(join(folder, 'store.log'), before)
    await writeFile(join(folder, 'store.log.next'), after.subarray(0, length))
    const store = await seal(await openFile(folder))
    expect(store.isLocked).toBe(true)
    await store.unlock('whatever it is')
    await expectWhole(store)
    await store.close()
  }
  await writeFile(join(folder, 'store.log'), after)
  const store = await seal(await openFile(folder))
  expect(store.isSealed).toBe(false)
  await expectWhole(store)
  await store.close()
})

test('a secret written while the store is being unsealed is stored in plain text, and is not overwritten', async () => {
  for (let turns = 0; turns < 40; turns += 1) {
    const store = new MemoryStore()
    const sealed = await seal(store)
    await sealed.protect('whatever it is')
    await sealed.write([
      { change: 'identity', identity },
      { change: 'session', session },
    ])
    const opening = sealed.protect(undefined)
    for (let turn = 0; turn < turns; turn += 1) await Promise.resolve()
    const changed = { ...session, createdAt: 99 }
    await sealed.write([
      { change: 'session', session: changed },
      { change: 'session', session: other },
    ])
    await opening
    expect(await store.listSessions()).toEqual([changed, other])
    expect(await store.getIdentity()).toEqual(identity)
    expect(await store.getVault()).toBeUndefined()
  }
})
