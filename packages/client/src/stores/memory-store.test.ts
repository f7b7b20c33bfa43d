// The memory store: the store contract and the vault contract.
import { describe } from 'bun:test'
import { organisedContract } from '../../test/stores/organised-contract.ts'
import { pagesContract } from '../../test/stores/pages-contract.ts'
import { secretStatesContract } from '../../test/stores/secret-states-contract.ts'
import { storeContract } from '../../test/stores/store-contract.ts'
import { vaultContract } from '../../test/stores/vault-contract.ts'
import { MemoryStore } from './memory-store.ts'

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
  pagesContract(open)
  organisedContract(open)
  vaultContract(open)
  secretStatesContract(open, 'memory')
})
