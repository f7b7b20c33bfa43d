// How a store keeps a vault record, as a test suite for stores that only keep it and do not use it.
import { expect, test } from 'bun:test'
import type { VaultRecord } from '../../src/stores/records.ts'
import { identity, intentOf, onBoth, type StoreUnderTest } from './store-contract.ts'

/** Declares the test suite. `open` opens an empty store. */
export function vaultContract(open: () => Promise<StoreUnderTest>): void {
  const first: VaultRecord = { kind: 'passphrase', n: 131_072, r: 8, p: 1, salt: 'AAAA', wrappedKey: 'BBBB' }
  const second: VaultRecord = { kind: 'device_key', keyName: 'device', wrappedKey: 'CCCC' }

  test('the vault record is stored unchanged, and a later one replaces it', async () => {
    const { store, reopen } = await open()
    expect(await store.getVault()).toBeUndefined()
    await store.write([{ change: 'vault', vault: first }])
    expect(await store.getVault()).toEqual(first)
    await store.write([{ change: 'vault', vault: second }])
    expect(await (await reopen()).getVault()).toEqual(second)
  })

  test('removing the vault record removes nothing else', async () => {
    const { store, reopen } = await open()
    await store.write([
      { change: 'vault', vault: first },
      { change: 'identity', identity },
    ])
    await store.write([{ change: 'vault_removed' }])
    await onBoth({ store, reopen }, async (opened) => {
      expect(await opened.getVault()).toBeUndefined()
      expect(await opened.getIdentity()).toEqual(identity)
    })
  })

  test('the vault stays when everything else is cleared', async () => {
    const { store, reopen } = await open()
    await store.write([
      { change: 'vault', vault: first },
      { change: 'identity', identity },
    ])
    await store.write([{ change: 'clear' }])
    await onBoth({ store, reopen }, async (opened) => {
      expect(await opened.getVault()).toEqual(first)
      expect(await opened.getIdentity()).toBeUndefined()
    })
  })

  test('a vault record among many writes does not lose any of them', async () => {
    const { store, reopen } = await open()
    const writes = Array.from({ length: 40 }, (_, at) =>
      store.write(
        at % 10 === 5
          ? [{ change: 'vault', vault: at === 35 ? second : first }]
          : [{ change: 'outbox_added', intent: intentOf(`m${at}`) }],
      ),
    )
    await Promise.all(writes)
    const again = await reopen()
    expect(await again.getVault()).toEqual(second)
    expect((await again.listOutbox()).length).toBe(36)
  })
}
