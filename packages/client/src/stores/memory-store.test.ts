// The memory store, held to the store contract.
import { describe } from 'bun:test'
import { MemoryStore } from './memory-store.ts'
import { storeContract } from './store-contract.ts'
import { vaultContract } from './vault-contract.ts'

describe('memory store', () => {
  const open = async () => {
    const store = new MemoryStore()
    const reopen = async () => {
      await store.close()
      store.reopen()
      return store
    }
    return { store, reopen }
  }
  storeContract(open)
  vaultContract(open)
})
