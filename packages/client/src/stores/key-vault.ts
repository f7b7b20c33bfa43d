// A vault that opens with a key that the application keeps elsewhere.
import { ClientError } from '../client-error.ts'
import { SealedStore } from './sealed-store.ts'
import { useSealing } from './secrets.ts'
import { DATA_KEY_BYTES, otherVault, unwrapKey, type Vault, wrapKey } from './vault.ts'

/**
 * A vault that opens with 32 random bytes, for the option `secrets`. The application keeps these bytes apart
 * from the store, for example in the system's keychain or in a secrets service. The vault opens together with
 * the client. The bytes are copied.
 * @throws ClientError `INVALID_ARGUMENT` for anything but 32 bytes.
 */
export function keyVault(key: Uint8Array): Vault {
  if (key.length !== DATA_KEY_BYTES)
    throw new ClientError('INVALID_ARGUMENT', 'the key of a vault is 32 random bytes')
  const wrappingKey = key.slice()
  useSealing(SealedStore.open)
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
