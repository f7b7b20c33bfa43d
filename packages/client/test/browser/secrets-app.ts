// The page of the tests of secret states: states by the name of their store, as texts.
import { deleteDatabase, IndexedDbStore } from '../../src/browser.ts'
import { asClientError } from '../../src/client-error.ts'
import { SecretStates } from '../../src/stores/secret-states.ts'

const opened = new Map<string, { readonly store: IndexedDbStore; readonly states: SecretStates }>()
/** Every key that was made, as hexadecimal. */
const keys: string[] = []
let lastWritten = 0

function randomBytes(length: number): Uint8Array {
  const taken = crypto.getRandomValues(new Uint8Array(length))
  if (length === 32) keys.push(Array.from(taken, (byte) => byte.toString(16).padStart(2, '0')).join(''))
  return taken
}

function statesOf(name: string): SecretStates {
  const found = opened.get(name)
  if (!found) throw new Error(`no store ${name}`)
  return found.states
}

const page = {
  isReady: true,

  /** Opens the states of a store. Returns what was found and where its key is, or the code of the error. */
  openSecrets: async (name: string): Promise<string> => {
    const store = await IndexedDbStore.open(name)
    try {
      const states = await SecretStates.open({
        ...{ store, randomBytes },
        clock: {
          after: (ms, run) => {
            const timer = setTimeout(run, ms)
            return () => clearTimeout(timer)
          },
        },
        onFailure: (error) => reportError(error),
      })
      opened.set(name, { store, states })
      return `${states.outcome} ${states.erasure}`
    } catch (error) {
      await store.close()
      return asClientError(error, 'HANDLER_FAILED').code
    }
  },

  writeSecret: (name: string, id: string, state: string, rotates: boolean): Promise<void> =>
    statesOf(name).write([{ kind: 'conversation', id, state: new TextEncoder().encode(state) }], [], {
      rotates,
    }),

  readSecret: async (name: string, id: string): Promise<string | undefined> => {
    const found = await statesOf(name).get('conversation', id)
    return found instanceof Uint8Array ? new TextDecoder().decode(found) : found
  },

  closeSecrets: async (name: string): Promise<void> => {
    await statesOf(name).close()
    await opened.get(name)?.store.close()
  },

  /** Writes numbers as states, each with a rotation, until the page is gone. */
  writeOn: (name: string): void => {
    const write = async (at: number): Promise<void> => {
      await page.writeSecret(name, 'a', `${at}`, true)
      lastWritten = at
      await write(at + 1)
    }
    void write(1)
  },

  lastWritten: (): number => lastWritten,

  keys: (): readonly string[] => keys,

  deleteStore: (name: string): Promise<void> => deleteDatabase(name),

  /** The names of the files of this origin. */
  files: async (): Promise<readonly string[]> => {
    const names: string[] = []
    const root = await navigator.storage.getDirectory()
    // The type of TypeScript's library lacks the iterator.
    for await (const name of Reflect.apply(Reflect.get(root, 'keys'), root, [])) names.push(name)
    return names
  },

  /** Holds a file of this origin and its lock, as a tab does that has stopped in the middle of a write. */
  holdFile: (name: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const code = `
        const root = await navigator.storage.getDirectory()
        const file = await root.getFileHandle(${JSON.stringify(name)}, { create: true })
        navigator.locks.request('sotto erasure ' + ${JSON.stringify(name)}, async () => {
          globalThis.held = await file.createSyncAccessHandle()
          postMessage('held')
          await new Promise(() => {})
        })`
      const url = URL.createObjectURL(new Blob([code], { type: 'text/javascript' }))
      const worker = new Worker(url, { type: 'module' })
      worker.addEventListener('message', () => resolve())
      worker.addEventListener('error', ({ message }) => reject(new Error(message)))
    }),
}

/** The functions that the tests call in the page. */
export type SecretsPage = typeof page

Object.assign(globalThis, page)
