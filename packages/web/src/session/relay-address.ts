// Which relay the app uses: the one that served it, or the one that the user named.
import { preferences } from './preferences.ts'
import { relayUrlOf } from './relay-url.ts'

/** Finds the relay. Undefined if the app is served by something else and no relay was named yet. */
export async function findRelay(): Promise<string | undefined> {
  const known = preferences.value.relayUrl
  if (known !== undefined) return known
  const own = new URL('.', document.baseURI).href
  return (await isRelay(own)) ? relayUrlOf(own) : undefined
}

/** Whether a relay answers at this address. */
export async function isRelay(url: string): Promise<boolean> {
  return (await relayVersion(url)) !== undefined
}

/** The version of the relay at this address, as it says. Undefined if no relay answers. */
export async function relayVersion(url: string): Promise<string | undefined> {
  try {
    const answer = await fetch(`${url.replace(/\/+$/, '')}/health`, { signal: AbortSignal.timeout(10_000) })
    const body: unknown = await answer.json()
    if (typeof body !== 'object' || body === null || !('status' in body) || !('version' in body))
      return undefined
    return String(body.version).slice(0, 40)
  } catch {
    // No network, no server, or a server that is no relay.
    return undefined
  }
}
