// A vault that opens by a key of the browser's own, which no script can read.
import { decodeBase64, encodeBase64 } from '@sotto/crypto'
import { ClientError } from '../client-error.ts'
import { storeFailure } from './indexeddb-queue.ts'
import { done } from './indexeddb-request.ts'
import { checkDataKey, otherVault, type Vault, vaultContext } from './vault.ts'

const TABLE = 'keys'
const NONCE_BYTES = 12

/** What can be chosen of a device key. */
export interface DeviceKeyOptions {
  /** The IndexedDB database that holds the keys; `sotto-keys` unless told. */
  readonly database?: string
  /** Which key, where one site has several stores; `device` unless told. */
  readonly keyName?: string
}

/**
 * A vault that opens by itself, for the option `secrets` in browsers. The data key is wrapped with AES-256-GCM under a
 * WebCrypto key that is made once, is not extractable, and lies in an IndexedDB database of its own.
 *
 * What this is worth: a script that reads the store, or a copy of its records, has nothing of the phrase and the keys; the
 * browser uses the key but hands it to nobody. It does not protect from a script that runs while the client is unlocked
 * (it can ask the client), nor from whoever copies the browser's whole profile off the disk, as the browser's key is in
 * it. Against that there is a passphrase. Needs a secure context: https, or localhost.
 */
export function deviceKeyVault(options: DeviceKeyOptions = {}): Vault {
  const { database = 'sotto-keys', keyName = 'device' } = options
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
          'the key of this device is gone: delete the store, and recover the account by its phrase',
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

/** The key of this name, made if it is not there. Of two tabs that make one, the first one's is kept by both. */
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

/** Resolves with what `work` answers, once what it wrote is durable. */
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
  // Its type says that it is always there; outside of secure contexts it is not.
  const found: SubtleCrypto | undefined = globalThis.crypto.subtle
  if (!found) {
    throw new ClientError(
      'STORE_FAILED',
      'a device key needs a secure context: serve the app by https, or from localhost',
    )
  }
  return found
}
