// Vaults that an application has made.
import { SealedStore } from './sealed-store.ts'
import { useSealing } from './secrets.ts'
import type { Vault } from './vault.ts'

/**
 * Makes a `Vault` of the application usable for the option `secrets`: brings the code that seals a store.
 * Returns the vault itself. If the application can get 32 bytes of a key, `keyVault` is simpler.
 */
export function customVault(vault: Vault): Vault {
  useSealing(SealedStore.open)
  return vault
}
