// A vault that opens by a key the application keeps elsewhere.
import { ClientError } from '../client-error.ts'
import { DATA_KEY_BYTES, otherVault, unwrapKey, type Vault, wrapKey } from './vault.ts'

/**
 * A vault that opens by 32 random bytes which the application keeps where the store is not: in the keychain of the system,
 * or in a service that holds secrets. For the option `secrets`; opens with the client. The bytes are copied.
 * @throws ClientError `INVALID_ARGUMENT` for anything but 32 bytes.
 */
export function keyVault(key: Uint8Array): Vault {
  if (key.length !== DATA_KEY_BYTES)
    throw new ClientError('INVALID_ARGUMENT', 'the key of a vault is 32 random bytes')
  const wrappingKey = key.slice()
  return {
    kind: 'key',
    needsPassphrase: false,
    async wrap(input) {
      const record = { kind: 'key' } as const
      return { ...record, wrappedKey: await wrapKey(wrappingKey, input, record) }
    },
    async unwrap(record) {
      if (record.kind !== 'key') throw otherVault(record)
      return unwrapKey(wrappingKey, record, 'STORE_FAILED')
    },
  }
}
