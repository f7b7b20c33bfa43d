// The secrets of a store: sealed by a vault, or in plain. Only a vault brings the code that seals, so that a
// client without one does not load it.
import type { RandomBytes } from '@sotto/crypto'
import { ClientError } from '../client-error.ts'
import { isSealed } from './sealed-prefix.ts'
import type { ClientStore } from './store.ts'
import type { Vault } from './vault.ts'

/** What `openSecrets` needs. */
export interface SecretsOptions {
  readonly store: ClientStore
  readonly randomBytes: RandomBytes
  /**
   * At most one vault with a passphrase and one without. Without any vault, an unsealed store stays unsealed.
   */
  readonly vaults: readonly Vault[]
}

/** A store with its secrets. `SealedStore` says what each member does. */
export interface Secrets {
  /** The store, whose secrets are read and written in plain. */
  readonly store: ClientStore
  readonly isSealed: boolean
  readonly hasPassphrase: boolean
  readonly isLocked: boolean
  lock(): void
  unlock(passphrase?: string): Promise<void>
  check(passphrase: string): Promise<void>
  protect(passphrase?: string): Promise<void>
}

let openSealed: ((options: SecretsOptions) => Promise<Secrets>) | undefined

/** Brings the code that seals. Each vault calls it when it is made. */
export function useSealing(open: NonNullable<typeof openSealed>): void {
  openSealed = open
}

/**
 * Opens the secrets of a store.
 * @throws ClientError `LOCKED` for a sealed store without a vault, `STORE_FAILED`, and what the vaults throw
 */
export async function openSecrets(options: SecretsOptions): Promise<Secrets> {
  const { store, vaults } = options
  if (vaults.length === 0) return openPlain(store)
  if (openSealed) return openSealed(options)
  throw new ClientError('INVALID_ARGUMENT', 'pass a vault of the application through `customVault`')
}

async function openPlain(store: ClientStore): Promise<Secrets> {
  if (await store.getVault())
    throw new ClientError('LOCKED', 'the secrets of this store are sealed: pass the option `secrets`')
  const identity = await store.getIdentity()
  const sessions = await store.listSessions()
  if ([identity?.mnemonic ?? '', ...sessions.map((session) => session.sessionKeyBase64)].some(isSealed))
    throw new ClientError('STORE_FAILED', 'the vault record of this store is gone')
  return {
    store,
    isSealed: false,
    hasPassphrase: false,
    isLocked: false,
    lock() {},
    async unlock() {},
    async check() {
      throw new ClientError('INVALID_ARGUMENT', 'no passphrase is set')
    },
    async protect(passphrase) {
      if (passphrase !== undefined)
        throw new ClientError('INVALID_ARGUMENT', 'no vault of this client takes a passphrase')
    },
  }
}
