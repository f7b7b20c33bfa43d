// The versions of what is stored, and how each came out of the one before: one list, for every store that lasts.
import { ClientError } from '../client-error.ts'

/** What a step makes of a database of the version before. Nothing but the transaction it is given may be waited for. */
export type DatabaseUpgrade = (database: IDBDatabase, transaction: IDBTransaction) => void

/** One version, and how a store of the version before becomes it. */
export interface MigrationStep {
  readonly version: number
  /** The file store: what becomes of each change in the log. */
  readonly change: (change: unknown) => unknown
  /** IndexedDB: what becomes of the database. The step to version 1 is given an empty one. */
  readonly upgrade: DatabaseUpgrade
}

const asItWas = (change: unknown): unknown => change

/** In rising versions. A step that was released is never altered: what it got wrong, the next one mends. */
const migrationSteps: readonly MigrationStep[] = [
  { version: 1, change: asItWas, upgrade: createTables },
  {
    // What was stored stays as it was. The version is there for older programs: they would take sealed secrets for plain.
    version: 2,
    change: asItWas,
    upgrade: (database) => {
      database.createObjectStore('vault')
    },
  },
]

/** The version this program writes. */
export const SCHEMA_VERSION = Math.max(...migrationSteps.map(({ version }) => version))

/** The steps that bring a store of `version` up to date. */
export function stepsAfter(version: number): readonly MigrationStep[] {
  return migrationSteps.filter((step) => step.version > version)
}

/** The refusal of a store that a newer program has written. */
export function newerSchema(version: number): ClientError {
  return new ClientError(
    'STORE_FAILED',
    `the store has version ${version}, this program knows versions up to ${SCHEMA_VERSION}: it was written by a newer one`,
  )
}

function createTables(database: IDBDatabase): void {
  // One record each, by name: what there is one of.
  database.createObjectStore('values')
  database.createObjectStore('trust')
  database.createObjectStore('read_marks', { keyPath: 'conversationId' })
  database.createObjectStore('offline', { keyPath: ['conversationId', 'seq'] })
  // Numbered as they are added, so that they are read in that order; found by what names them.
  const named = { autoIncrement: true }
  database.createObjectStore('sessions', named).createIndex('name', 'conversationId', { unique: true })
  database.createObjectStore('outbox', named).createIndex('name', 'internalId', { unique: true })
  database
    .createObjectStore('retract_intents', named)
    .createIndex('name', ['conversationId', 'messageId'], { unique: true })
  const messages = database.createObjectStore('messages', named)
  // Each is a field of the row that holds the whole key, absent where the message is not to be found by it.
  messages.createIndex('name', 'name', { unique: true })
  for (const index of ['order', 'seq', 'nonce', 'peer', 'own']) messages.createIndex(index, index)
}
