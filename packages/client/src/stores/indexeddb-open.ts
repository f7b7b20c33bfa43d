// Opens an IndexedDB database in the current version.
import { ClientError } from '../client-error.ts'
import { newerSchema, SCHEMA_VERSION, stepsAfter } from './migrations.ts'

/**
 * How long another tab may take to close a database before an upgrade or a deletion: it has writes to finish.
 */
const PATIENCE_MS = 5000

/** Opens a database. Creates or upgrades it first if necessary, completely or not at all. */
export async function openDatabase(name: string): Promise<IDBDatabase> {
  const request = indexedDB.open(name, SCHEMA_VERSION)
  request.onupgradeneeded = ({ oldVersion }) => {
    const { result: database, transaction } = request
    if (transaction) void upgrade(database, transaction, oldVersion)
  }
  try {
    return await unblocked(request, (database) => database.close())
  } catch (error) {
    if (error instanceof Error && error.name === 'VersionError') throw newerSchema(await versionOf(name))
    throw error
  }
}

/** Runs the steps one after another. If one fails, nothing of them is kept, and the request fails. */
async function upgrade(
  database: IDBDatabase,
  transaction: IDBTransaction,
  oldVersion: number,
): Promise<void> {
  try {
    for (const step of stepsAfter(oldVersion)) await step.upgrade(database, transaction)
  } catch {
    transaction.abort()
  }
}

async function versionOf(name: string): Promise<number> {
  const database = await unblocked(indexedDB.open(name), (late) => late.close())
  const { version } = database
  database.close()
  return version
}

/**
 * The result of a request that other tabs can block. A result that comes after the time-out is passed to
 * `onLate`.
 */
export function unblocked<T>(
  request: IDBOpenDBRequest & IDBRequest<T>,
  onLate: (result: T) => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    let isLate = false
    request.onblocked = () => {
      setTimeout(() => {
        isLate = request.readyState === 'pending'
        reject(new ClientError('STORE_LOCKED', 'another tab of this site does not close the store'))
      }, PATIENCE_MS)
    }
    request.onerror = () => reject(request.error)
    request.onsuccess = () => (isLate ? onLate(request.result) : resolve(request.result))
  })
}
