// While the store seals a secret, changes are still reported in the order in which they were recorded.
import { expect, test } from 'bun:test'
import { messageOf, session } from '../../test/stores/store-contract.ts'
import { Journal } from './journal.ts'
import { keyVault } from './key-vault.ts'
import { MemoryStore } from './memory-store.ts'
import type { StoreChange } from './records.ts'
import { SealedStore } from './sealed-store.ts'

/** A store that syncs several writes together, as stores on disks do. */
class BurstStore extends MemoryStore {
  #synced: Promise<void> | undefined
  override async write(changes: readonly StoreChange[]): Promise<void> {
    const written = super.write(changes)
    this.#synced ??= Bun.sleep(5).then(() => {
      this.#synced = undefined
    })
    const synced = this.#synced
    return written.then(() => synced)
  }
}

test('a change recorded while a session is sealed is reported before changes recorded later', async () => {
  const randomBytes = (length: number) => crypto.getRandomValues(new Uint8Array(length))
  for (let steps = 0; steps < 60; steps += 1) {
    const store = await SealedStore.open({
      store: new BurstStore(),
      vaults: [keyVault(randomBytes(32))],
      randomBytes,
    })
    const journal = new Journal(store, (error) => {
      throw error
    })
    const reported: string[] = []
    const record = (id: string): void =>
      journal.record([{ change: 'message', message: messageOf({ id }) }], () => reported.push(id))
    journal.record([{ change: 'session', session }], () => reported.push('session'))
    record('first')
    for (let step = 0; step < steps; step += 1) await null
    record('second')
    await journal.settled()
    expect({ steps, reported }).toEqual({ steps, reported: ['session', 'first', 'second'] })
  }
})

test('what becomes durable together is reported at once, and nothing twice', async () => {
  const stored: string[][] = []
  const journal = new Journal(
    new BurstStore(),
    () => {},
    (changes) => stored.push(changes.map((change) => ('message' in change ? change.message.id : ''))),
  )
  const record = (id: string): void => journal.record([{ change: 'message', message: messageOf({ id }) }])
  const first = Array.from({ length: 100 }, (_, at) => `first ${at}`)
  for (const id of first) record(id)
  await journal.settled()
  await journal.write([])
  record('second')
  await journal.settled()
  await journal.write([])
  expect(stored.filter((ids) => ids.length > 0)).toEqual([first, ['second']])
})
