// What opens a sealed store: a vault wraps the key of its secrets, and unwraps it for whoever may have it.
import { openValue, type RandomBytes, sealValue } from '@sotto/crypto'
import { ClientError, type ClientErrorCode } from '../client-error.ts'
import type { VaultRecord } from './records.ts'

/** The key under which the secrets of a store are sealed, in bytes. */
export const DATA_KEY_BYTES = 32

/**
 * A way to keep the key of a store's secrets. `passphraseVault`, `keyVault` and, in browsers, `deviceKeyVault` make one;
 * it is handed to the client as the option `secrets`.
 */
export interface Vault {
  /** Of which records it can open. */
  readonly kind: VaultRecord['kind']
  /** Whether it opens by a passphrase alone. One that needs none opens with the client. */
  readonly needsPassphrase: boolean
  /** Wraps a data key. Does not keep it, and does not change it. */
  wrap(input: WrapInput): Promise<VaultRecord>
  /**
   * The data key of a record, as bytes of its own.
   * @throws ClientError `WRONG_PASSPHRASE`, or `STORE_FAILED` for a record this vault cannot open.
   */
  unwrap(record: VaultRecord, passphrase: string | undefined): Promise<Uint8Array>
}

/** What wrapping takes. */
export interface WrapInput {
  readonly dataKey: Uint8Array
  readonly passphrase: string | undefined
  readonly randomBytes: RandomBytes
}

/** What a wrapped key is bound to: all of its record but itself, so that none of it can be altered. */
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

/** Unwraps the data key of a record. @throws ClientError `code`, where the key is another or the record was altered. */
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
        ? 'this is not the passphrase of the store'
        : 'the key that was given does not open the store'
    throw new ClientError(code, message, { cause })
  }
}

/** The key, if it can be one. */
export function checkDataKey(key: Uint8Array): Uint8Array {
  if (key.length !== DATA_KEY_BYTES) throw new ClientError('STORE_FAILED', 'what was wrapped is no data key')
  return key
}

/** The refusal of a record of another kind. */
export function otherVault(record: VaultRecord): ClientError {
  return new ClientError(
    'STORE_FAILED',
    `the secrets of this store are kept by a vault of the kind ${record.kind}`,
  )
}
