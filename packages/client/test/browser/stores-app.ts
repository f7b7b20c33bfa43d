// The page of the store tests. It has stores by name, and tests call them from outside with JSON.
import { deleteDatabase, deviceKeyVault, IndexedDbStore } from '../../src/browser.ts'
import { asClientError } from '../../src/client-error.ts'
import { StoreSearch, type StoreSearchOptions } from '../../src/search/store-search.ts'
import { stepsAfter } from '../../src/stores/migrations.ts'
import { SealedStore } from '../../src/stores/sealed-store.ts'
import type { ClientStore } from '../../src/stores/store.ts'

/** The result of a call, or its error. */
export type Outcome = { readonly value: unknown } | { readonly code: string; readonly message: string }

/** A call to a store in the page. */
export interface PageCall {
  readonly store: string
  readonly method: string
  readonly args: readonly unknown[]
}

// The store keeps what it made for a long list two seconds later. Here it does so at once, so that the tests
// read what is kept.
const { setTimeout } = globalThis
Object.assign(globalThis, {
  setTimeout: (run: () => void, ms?: number): unknown => setTimeout(run, ms === 2000 ? 0 : ms),
})

const stores = new Map<string, ClientStore>()
/** One for each store, as a client has. */
const searches = new WeakMap<ClientStore, StoreSearch>()
let pairsWritten = 0

const randomBytes = (length: number): Uint8Array => crypto.getRandomValues(new Uint8Array(length))

async function outcome(run: () => Promise<unknown>): Promise<Outcome> {
  try {
    return { value: await run() }
  } catch (thrown) {
    const { code, message } = asClientError(thrown, 'HANDLER_FAILED')
    return { code, message }
  }
}

const page = {
  isReady: true,

  /** Opens a store of a database under a name of its own, so one page can have two stores of one database. */
  openStore: (name: string, database: string, isSealed: boolean): Promise<Outcome> =>
    outcome(async () => {
      const store = await IndexedDbStore.open(database)
      const vault = deviceKeyVault({ keyName: database })
      stores.set(name, isSealed ? await SealedStore.open({ store, vaults: [vault], randomBytes }) : store)
    }),

  callStore: ({ store, method, args }: PageCall): Promise<Outcome> =>
    outcome(() => {
      const target = stores.get(store)
      const found: unknown = target && Reflect.get(target, method)
      if (typeof found !== 'function') throw new Error(`no ${method} of ${store}`)
      return Reflect.apply(found, target, args)
    }),

  /** Searches a store, through its blocks. */
  search: (store: string, typed: string, options: StoreSearchOptions): Promise<Outcome> =>
    outcome(async () => {
      const target = stores.get(store)
      if (!target) throw new Error(`no store ${store}`)
      const search = searches.get(target) ?? new StoreSearch(target)
      searches.set(target, search)
      return search.find(typed, options, [])
    }),

  deleteStore: (database: string): Promise<Outcome> => outcome(() => deleteDatabase(database)),

  /**
   * Makes a database of any version, as another program would. Runs the present upgrade steps up to that
   * version. For a version after the last step, it adds an empty table.
   */
  makeDatabase: (database: string, version: number): Promise<Outcome> =>
    outcome(
      () =>
        new Promise<void>((resolve, reject) => {
          const request = indexedDB.open(database, version)
          request.onupgradeneeded = async ({ oldVersion }) => {
            if (!request.transaction) return
            for (const step of stepsAfter(oldVersion))
              if (step.version <= version) await step.upgrade(request.result, request.transaction)
            if (stepsAfter(oldVersion).every((step) => step.version < version))
              request.result.createObjectStore(`of version ${version}`)
          }
          request.onerror = () => reject(request.error)
          request.onsuccess = () => {
            request.result.close()
            resolve()
          }
        }),
    ),

  /** Returns everything in a database as JSON, with the database's version. */
  dump: (database: string): Promise<Outcome> =>
    outcome(async () => {
      const request = indexedDB.open(database)
      const opened = await new Promise<IDBDatabase>((resolve, reject) => {
        request.onerror = () => reject(request.error)
        request.onsuccess = () => resolve(request.result)
      })
      const tables: Record<string, unknown> = { version: opened.version }
      for (const name of opened.objectStoreNames) {
        const rows = opened.transaction(name).objectStore(name).getAll()
        tables[name] = await new Promise((resolve, reject) => {
          rows.onsuccess = () => resolve(rows.result)
          rows.onerror = () => reject(rows.error)
        })
      }
      opened.close()
      return tables
    }),

  /** Tries to export every key of this device. Returns `exported` or the error's name for each. */
  tryKeys: (): Promise<Outcome> =>
    outcome(async () => {
      const request = indexedDB.open('sotto-keys')
      const opened = await new Promise<IDBDatabase>((resolve, reject) => {
        request.onerror = () => reject(request.error)
        request.onsuccess = () => resolve(request.result)
      })
      const rows = opened.transaction('keys').objectStore('keys').getAll()
      const keys = await new Promise<unknown[]>((resolve, reject) => {
        rows.onsuccess = () => resolve(rows.result)
        rows.onerror = () => reject(rows.error)
      })
      opened.close()
      return Promise.all(
        keys.map(async (key) => {
          if (!(key instanceof CryptoKey)) return 'not a key'
          const name = (error: unknown) => (error instanceof Error ? error.name : 'thrown')
          return crypto.subtle.exportKey('raw', key).then(() => 'exported', name)
        }),
      )
    }),

  /** Writes pairs of messages, two messages in each write, until the page is closed. */
  writePairs: (store: string, conversationId: string): void => {
    const write = async (at: number): Promise<void> => {
      const pair = ['a', 'b'].map((side) => ({
        change: 'message',
        message: {
          id: `${side}${at}`,
          conversationId,
          text: 'x'.repeat(2000),
          isMe: false,
          time: at,
          status: 'delivered',
          seq: 2 * at + (side === 'a' ? 1 : 2),
        },
      }))
      await page.callStore({ store, method: 'write', args: [pair] })
      pairsWritten = at + 1
      setTimeout(() => void write(at + 1), 0)
    }
    void write(0)
  },

  /** How many pairs have been written. */
  countPairs: (): number => pairsWritten,

  isSecure: (): boolean => globalThis.isSecureContext,
}

/** The functions that the tests call in the page. */
export type StoresPage = typeof page

Object.assign(globalThis, page)
