// The order of what is written while a secret is being sealed: messages go out, and are told, as they were posted and came.
import { expect, test } from 'bun:test'
import { Journal } from './journal.ts'
import { keyVault } from './stores/key-vault.ts'
import { MemoryStore } from './stores/memory-store.ts'
import type { StoreChange } from './stores/records.ts'
import { SealedStore } from './stores/sealed-store.ts'
import { messageOf, session } from './stores/store-contract.ts'

/** A store that syncs a burst of writes at once, as those on disks do. */
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

test('what was recorded while a session was sealed is told before what was recorded after', async () => {
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
    const told: string[] = []
    const record = (id: string): void =>
      journal.record([{ change: 'message', message: messageOf({ id }) }], () => told.push(id))
    journal.record([{ change: 'session', session }], () => told.push('session'))
    record('first')
    for (let step = 0; step < steps; step += 1) await null
    record('second')
    await journal.settled()
    expect({ steps, told }).toEqual({ steps, told: ['session', 'first', 'second'] })
  }
})
