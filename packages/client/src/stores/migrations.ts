// The versions of the stored data, and the steps from each version to the next: one list for all durable
// stores.
import { ClientError } from '../client-error.ts'
import { done } from './indexeddb-request.ts'

/** Changes a database of the previous version. It may wait only for requests of the given transaction. */
export type DatabaseUpgrade = (database: IDBDatabase, transaction: IDBTransaction) => void | Promise<void>

/** One version, and how to bring a store of the previous version to it. */
export interface MigrationStep {
  readonly version: number
  /** The file store: converts each change in the log. */
  readonly change: (change: unknown) => unknown
  /** IndexedDB: converts the database. The step to version 1 gets an empty one. */
  readonly upgrade: DatabaseUpgrade
}

const unchanged = (change: unknown): unknown => change

/** Sorted by version. A released step is never changed: a later step repairs its mistakes. */
const migrationSteps: readonly MigrationStep[] = [
  { version: 1, change: unchanged, upgrade: createTables },
  {
    // No data changes. The new version keeps older programs away, which would read sealed secrets as plain
    // text.
    version: 2,
    change: unchanged,
    upgrade: (database) => {
      database.createObjectStore('vault')
    },
  },
  {
    // Messages deleted on this device, what the user decided about conversations, and calls.
    version: 3,
    change: unchanged,
    upgrade: (database) => {
      database.createObjectStore('settings', { keyPath: 'conversationId' })
      database.createObjectStore('calls', { keyPath: 'id' })
    },
  },
  {
    // An index of the words of messages, which version 5 replaces.
    version: 4,
    change: unchanged,
    upgrade: (database, transaction) => {
      const words = database.createObjectStore('words')
      words.createIndex('words', 'words', { multiEntry: true })
      words.createIndex('unindexed', 'unindexed')
      transaction.objectStore('messages').createIndex('place', ['message.time', 'name'])
    },
  },
  {
    // Blocks of messages for searching (message-blocks.ts). They are made once somebody searches.
    version: 5,
    change: unchanged,
    upgrade: (database, transaction) => {
      database.deleteObjectStore('words')
      transaction.objectStore('messages').deleteIndex('place')
      transaction.objectStore('values').delete('messages indexed')
      database
        .createObjectStore('search_blocks', { autoIncrement: true })
        .createIndex('name', 'name', { unique: true })
    },
  },
  {
    // What the application keeps, such as drafts of posts; and the message that a draft replies to.
    version: 6,
    change: unchanged,
    upgrade: (database) => {
      database.createObjectStore('app_data', { keyPath: 'name' })
    },
  },
  {
    // An index that counts the unread messages.
    version: 7,
    change: unchanged,
    upgrade: (_, transaction) => {
      transaction.objectStore('messages').createIndex('received', 'received')
      return indexUnread(transaction)
    },
  },
  {
    // What a list of conversations shows (indexeddb-summaries.ts). It is made once a list is read.
    version: 8,
    change: unchanged,
    upgrade: (database) => {
      database.createObjectStore('summaries', { keyPath: 'conversationId' })
    },
  },
  {
    // Sealed states of version 3, by name (secret-states.ts).
    version: 9,
    change: unchanged,
    upgrade: (database) => {
      database.createObjectStore('secrets')
    },
  },
]

/** The version that this program writes. */
export const SCHEMA_VERSION = Math.max(...migrationSteps.map(({ version }) => version))

/** The steps that bring a store of `version` up to date. */
export function stepsAfter(version: number): readonly MigrationStep[] {
  return migrationSteps.filter((step) => step.version > version)
}

/** The error for a store that a newer program has written. */
export function newerSchema(version: number): ClientError {
  return new ClientError(
    'STORE_FAILED',
    `the store has version ${version}, this program knows versions up to ${SCHEMA_VERSION}: it was written by a newer one`,
  )
}

function createTables(database: IDBDatabase): void {
  // Records of which a device has only one, by name.
  database.createObjectStore('values')
  database.createObjectStore('trust')
  database.createObjectStore('read_marks', { keyPath: 'conversationId' })
  database.createObjectStore('offline', { keyPath: ['conversationId', 'seq'] })
  // Rows are numbered as they are added, so that they are read in that order. The index `name` finds a row.
  const named = { autoIncrement: true }
  database.createObjectStore('sessions', named).createIndex('name', 'conversationId', { unique: true })
  database.createObjectStore('outbox', named).createIndex('name', 'internalId', { unique: true })
  database
    .createObjectStore('retract_intents', named)
    .createIndex('name', ['conversationId', 'messageId'], { unique: true })
  const messages = database.createObjectStore('messages', named)
  // Each index is a field of the row that holds the whole key. A row without the field is not in that index.
  messages.createIndex('name', 'name', { unique: true })
  for (const index of ['order', 'seq', 'nonce', 'peer', 'own']) messages.createIndex(index, index)
}

/** Puts the unread messages into the index `received`. Those that are read are never counted again. */
async function indexUnread(transaction: IDBTransaction): Promise<void> {
  const marks = await done(transaction.objectStore('read_marks').getAll())
  const readSeqs = new Map<unknown, number>(
    marks.map(({ conversationId, readSeq }) => [conversationId, readSeq]),
  )
  const walk = transaction.objectStore('messages').index('peer').openCursor()
  for (let cursor = await done(walk); cursor && Array.isArray(cursor.key); cursor = await done(walk)) {
    const [conversationId, seq] = cursor.key
    const readSeq = readSeqs.get(conversationId) ?? 0
    if (conversationId !== undefined && Number(seq) <= readSeq) {
      cursor.continue([conversationId, readSeq, []])
      continue
    }
    const { message } = cursor.value
    if (!message.retracted && !message.removed) cursor.update({ ...cursor.value, received: cursor.key })
    cursor.continue()
  }
}
