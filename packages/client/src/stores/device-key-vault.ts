// A vault that opens with a key that the browser keeps and no script can read.
import { decodeBase64, encodeBase64 } from '@sotto/crypto'
import { ClientError } from '../client-error.ts'
import { storeFailure } from './indexeddb-queue.ts'
import { done } from './indexeddb-request.ts'
import { SealedStore } from './sealed-store.ts'
import { useSealing } from './secrets.ts'
import { checkDataKey, otherVault, type Vault, vaultContext } from './vault.ts'

const TABLE = 'keys'
const NONCE_BYTES = 12

/** Options of `deviceKeyVault`. */
export interface DeviceKeyOptions {
  /** The IndexedDB database that holds the keys. The default is `sotto-keys`. */
  readonly database?: string
  /** The name of the key, for a site with several stores. The default is `device`. */
  readonly keyName?: string
}

/**
 * A vault that opens without the user, for the option `secrets` in browsers. The data key is wrapped with
 * AES-256-GCM under a WebCrypto key that is created once, is not extractable, and is kept in a separate
 * IndexedDB database.
 *
 * It protects the phrase and the session keys from a script that reads the store, and from someone with a
 * copy of its records: the browser uses the key but never exports it. It does not protect from a script that
 * runs while the client is unlocked (it can call the client), nor from someone who copies the browser's whole
 * profile from the disk, since the profile contains the browser's key. A passphrase protects against that
 * copy. Needs a secure context: https or localhost.
 */
export function deviceKeyVault(options: DeviceKeyOptions = {}): Vault {
  const { database = 'sotto-keys', keyName = 'device' } = options
  useSealing(SealedStore.open)
  return {
    kind: 'device_key',
    needsPassphrase: false,
    async wrap({ dataKey, randomBytes }) {
      const record = { kind: 'device_key', keyName } as const
      const key = await keepKey(database, keyName)
      const nonce = new Uint8Array(randomBytes(NONCE_BYTES))
      const sealed = await subtle().encrypt(algorithm(nonce, record), key, new Uint8Array(dataKey))
      const wrapped = new Uint8Array(NONCE_BYTES + sealed.byteLength)
      wrapped.set(nonce)
      wrapped.set(new Uint8Array(sealed), NONCE_BYTES)
      return { ...record, wrappedKey: encodeBase64(wrapped) }
    },
    async unwrap(record) {
      if (record.kind !== 'device_key') throw otherVault(record)
      const key = await findKey(database, record.keyName)
      if (!key) {
        throw new ClientError(
          'STORE_FAILED',
          'the key of this device is gone: delete the store, and recover the account by phrase',
        )
      }
      try {
        const wrapped = decodeBase64(record.wrappedKey)
        const nonce = wrapped.slice(0, NONCE_BYTES)
        const opened = await subtle().decrypt(algorithm(nonce, record), key, wrapped.slice(NONCE_BYTES))
        return checkDataKey(new Uint8Array(opened))
      } catch (cause) {
        throw new ClientError('STORE_FAILED', 'the key of this device does not open the store', { cause })
      }
    },
  }
}

function algorithm(
  iv: Uint8Array<ArrayBuffer>,
  record: { readonly kind: 'device_key'; readonly keyName: string },
): AesGcmParams {
  return { name: 'AES-GCM', iv, additionalData: new TextEncoder().encode(vaultContext(record)) }
}

/** The key of this name, created if it does not exist. If two tabs create one at once, both use the first. */
async function keepKey(databaseName: string, keyName: string): Promise<CryptoKey> {
  const found = await findKey(databaseName, keyName)
  if (found) return found
  const made = await subtle().generateKey({ name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt'])
  return inKeys(databaseName, 'readwrite', async (keys) => {
    const first: unknown = await done(keys.get(keyName))
    if (first instanceof CryptoKey) return first
    await done(keys.put(made, keyName))
    return made
  })
}

function findKey(databaseName: string, keyName: string): Promise<CryptoKey | undefined> {
  return inKeys(databaseName, 'readonly', async (keys) => {
    const found: unknown = await done(keys.get(keyName))
    return found instanceof CryptoKey ? found : undefined
  })
}

/** Resolves with the result of `work`, once its writes are durable. */
async function inKeys<T>(
  databaseName: string,
  mode: IDBTransactionMode,
  work: (keys: IDBObjectStore) => Promise<T>,
): Promise<T> {
  try {
    const request = indexedDB.open(databaseName, 1)
    request.onupgradeneeded = () => request.result.createObjectStore(TABLE)
    const database = await done(request)
    try {
      const transaction = database.transaction(TABLE, mode, { durability: 'strict' })
      const ended = new Promise<void>((resolve, reject) => {
        transaction.oncomplete = () => resolve()
        transaction.onabort = () => reject(transaction.error)
      })
      const [result] = await Promise.all([work(transaction.objectStore(TABLE)), ended])
      return result
    } finally {
      database.close()
    }
  } catch (error) {
    throw storeFailure(error)
  }
}

function subtle(): SubtleCrypto {
  // The type says that it is always defined, but outside secure contexts it is undefined.
  const found: SubtleCrypto | undefined = globalThis.crypto.subtle
  if (!found) {
    throw new ClientError(
      'STORE_FAILED',
      'a device key needs a secure context: serve the app by https, or from localhost',
    )
  }
  return found
}
