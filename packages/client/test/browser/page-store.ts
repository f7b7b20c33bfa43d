// A store that lives in a page: each call goes there as JSON, so that what is tested in this process is the browser's own.
import type { Page } from 'playwright-core'
import { ClientError, type ClientErrorCode, type ClientStore, MemoryStore } from '../../src/client.ts'
import { clientErrorCodes } from '../../src/client-error.ts'
import type { Outcome, PageCall, StoresPage } from './stores-app.ts'

/** What a page answered, or what it threw. */
function settle(outcome: Outcome): unknown {
  if ('value' in outcome) return outcome.value
  if ('code' in outcome) throw new ClientError(codeOf(outcome.code), outcome.message)
  return undefined
}

/** Calls a function of the page of `stores-app.ts`. */
export async function inPage<N extends 'openStore' | 'deleteStore' | 'makeDatabase' | 'dump' | 'tryKeys'>(
  page: Page,
  name: N,
  ...args: Parameters<StoresPage[N]>
): Promise<unknown> {
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
  // Every method of the interface, whichever store it is taken from, is a call of the one of its name in the page.
  return new Proxy<ClientStore>(new MemoryStore(), {
    get: (_, method) =>
      // Not a promise, whoever asks.
      typeof method !== 'string' || method === 'then'
        ? undefined
        : (...args: unknown[]) => call(method, args),
  })
}

function codeOf(text: string): ClientErrorCode {
  const code = clientErrorCodes.find((known) => known === text)
  if (!code) throw new Error(`the page threw ${text}`)
  return code
}
