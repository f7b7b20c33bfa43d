// Vaults: a vault wraps the data key of a sealed store, and unwraps it for a user who is allowed to open the
// store.
import { openValue, type RandomBytes, sealValue } from '@sotto/crypto'
import { ClientError, type ClientErrorCode } from '../client-error.ts'
import type { VaultRecord } from './records.ts'

/** The length of the data key, which seals the secrets of a store. */
export const DATA_KEY_BYTES = 32

/**
 * Protects the data key of a store's secrets. Create one with `passphraseVault`, `keyVault` or, in browsers,
 * `deviceKeyVault`, and pass it to the client as the option `secrets`. A vault that the application has made
 * must go through `customVault`; without a vault of the library, `SottoClient.open` otherwise throws
 * `INVALID_ARGUMENT`.
 */
export interface Vault {
  /** The kind of records that it can open. */
  readonly kind: VaultRecord['kind']
  /** Whether it needs a passphrase. A vault that needs none is opened when the client is opened. */
  readonly needsPassphrase: boolean
  /** Wraps a data key. Neither keeps nor changes it. */
  wrap(input: WrapInput): Promise<VaultRecord>
  /**
   * Unwraps the data key of a record. The caller owns the returned bytes.
   * @throws ClientError `WRONG_PASSPHRASE`, or `STORE_FAILED` for a record this vault cannot open.
   */
  unwrap(record: VaultRecord, passphrase: string | undefined): Promise<Uint8Array>
}

/** The input of `Vault.wrap`. */
export interface WrapInput {
  readonly dataKey: Uint8Array
  readonly passphrase: string | undefined
  readonly randomBytes: RandomBytes
}

/**
 * The context that a wrapped key is bound to: its whole record except the key, so that no field can be
 * altered.
 */
export function vaultContext(record: Omit<VaultRecord, 'wrappedKey'>): string {
  const fields = Object.entries(record).filter(([name]) => name !== 'wrappedKey')
  return JSON.stringify(['sotto vault 1', ...fields.sort(([a], [b]) => (a < b ? -1 : 1))])
}

/** Wraps a data key under another key. */
export function wrapKey(
  wrappingKey: Uint8Array,
  input: WrapInput,
  record: Omit<VaultRecord, 'wrappedKey'>,
): Promise<string> {
  return sealValue({
    key: wrappingKey,
    secret: input.dataKey,
    context: vaultContext(record),
    randomBytes: input.randomBytes,
  })
}

/**
 * Unwraps the data key of a record. @throws ClientError `code` if the key is wrong or the record was altered.
 */
export async function unwrapKey(
  wrappingKey: Uint8Array,
  record: VaultRecord,
  code: ClientErrorCode,
): Promise<Uint8Array> {
  try {
    const context = vaultContext(record)
    return checkDataKey(await openValue({ key: wrappingKey, sealed: record.wrappedKey, context }))
  } catch (cause) {
    const message =
      code === 'WRONG_PASSPHRASE'
        ? 'wrong passphrase for this store'
        : 'the given key does not open the store'
    throw new ClientError(code, message, { cause })
  }
}

/** Returns the key if it has the length of a data key. */
export function checkDataKey(key: Uint8Array): Uint8Array {
  if (key.length !== DATA_KEY_BYTES) throw new ClientError('STORE_FAILED', 'the wrapped data key is invalid')
  return key
}

/** The error for a record of another kind of vault. */
export function otherVault(record: VaultRecord): ClientError {
  return new ClientError('STORE_FAILED', `the secrets of this store need a vault of the kind ${record.kind}`)
}
