// A store in a page. Each call goes to the page as JSON, so tests in this process use the browser's own
// database.
import type { Page } from 'playwright-core'
import { ClientError, type ClientErrorCode, type ClientStore, MemoryStore } from '../../src/client.ts'
import { clientErrorCodes } from '../../src/client-error.ts'
import type { Outcome, PageCall, StoresPage } from './stores-app.ts'

/** Returns the value from the page, or throws the page's error. */
function settle(outcome: Outcome): unknown {
  if ('value' in outcome) return outcome.value
  if ('code' in outcome) throw new ClientError(codeOf(outcome.code), outcome.message)
  return undefined
}

/** Calls a function that `stores-app.ts` defines in the page. */
export async function inPage<
  N extends 'openStore' | 'search' | 'deleteStore' | 'makeDatabase' | 'dump' | 'tryKeys',
>(page: Page, name: N, ...args: Parameters<StoresPage[N]>): Promise<unknown> {
  const call = ({ name, args }: { name: string; args: readonly unknown[] }): Promise<Outcome> =>
    Reflect.apply(Reflect.get(globalThis, name), undefined, args)
  return settle(await page.evaluate(call, { name, args }))
}

/** The store opened in the page under `name`. */
export function storeIn(page: Page, name: string): ClientStore {
  const call = async (method: string, args: readonly unknown[]): Promise<unknown> => {
    const asked: PageCall = { store: name, method, args }
    return settle(
      await page.evaluate(
        (asked): Promise<Outcome> => Reflect.apply(Reflect.get(globalThis, 'callStore'), undefined, [asked]),
        asked,
      ),
    )
  }
  // Every method of the interface calls the method of the same name in the page.
  return new Proxy<ClientStore>(new MemoryStore(), {
    get: (_, method) =>
      // `await` reads `then`, which must be undefined: this object is not a promise.
      typeof method !== 'string' || method === 'then'
        ? undefined
        : (...args: unknown[]) => call(method, args),
  })
}

function codeOf(text: string): ClientErrorCode {
  const code = clientErrorCodes.find((known) => known === text)
  if (!code) throw new Error(`the page threw the unknown code ${text}`)
  return code
}
