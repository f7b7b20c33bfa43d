// Requests to push endpoints, which an attacker may have chosen: https only, public addresses only, no
// redirects, limited time. A host name is resolved once; the relay connects to exactly the address that it
// checked.
import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { bareHost } from '../operations/bare-host.ts'
import { abortable } from './abortable.ts'
import { type Answer, postOnce } from './post-once.ts'
import { type AllowedHosts, isPublicAddress } from './public-addresses.ts'
import { SEND_MS } from './push-service.ts'

/** The rules forbid requests to this endpoint. The message is the relay's own text. */
export class EndpointRefused extends Error {
  override readonly name = 'EndpointRefused'
}

/** The endpoint did not answer. The message is the relay's own text. */
export class EndpointUnreachable extends Error {
  override readonly name = 'EndpointUnreachable'
}

/** How host names are resolved and which certificate authorities are trusted. */
export interface Network {
  /** The addresses of a host. @throws if it has none */
  resolve(host: string): Promise<readonly string[]>
  /** Certificate authorities used instead of the system's, as PEM. */
  readonly authorities?: string
}

/** The system's resolver and authorities. `NODE_EXTRA_CA_CERTS` adds further authorities. */
export const systemNetwork: Network = {
  resolve: async (host) => {
    const found = await lookup(host, { all: true })
    return found.map(({ address }) => address)
  },
}

/** The request to post. */
export interface PushRequest {
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array<ArrayBuffer>
}

/**
 * Lower ports, except 443, are refused: they belong to other protocols that an attacker could want to reach.
 */
const LEAST_OTHER_PORT = 1024
const MOST_ADDRESSES = 3

export class PushEndpointRequests {
  readonly #allowed: AllowedHosts
  readonly #network: Network

  constructor(parts: { allowed: AllowedHosts; network: Network }) {
    this.#allowed = parts.allowed
    this.#network = parts.network
  }

  /**
   * Parses an endpoint and checks everything that can be checked without resolving its host.
   * @throws EndpointRefused
   */
  parse(text: string): URL {
    const url = URL.canParse(text) ? new URL(text) : undefined
    if (url?.protocol !== 'https:') throw new EndpointRefused('must be a URL that begins with https://')
    if (url.username !== '' || url.password !== '') throw new EndpointRefused('must hold no password')
    const host = hostOf(url)
    if (this.#allowed.hasHost(host)) return url
    const isName = /^(?:[a-z0-9_-]{1,63}\.)+[a-z0-9-]{2,63}$/.test(host)
    if (isIP(host) ? !isPublicAddress(host) : !isName) throw new EndpointRefused('must be on a public host')
    if (url.port !== '' && Number(url.port) < LEAST_OTHER_PORT)
      throw new EndpointRefused(`must be on port 443 or one from ${LEAST_OTHER_PORT}`)
    return url
  }

  /**
   * Posts to an endpoint.
   * @throws EndpointRefused, and EndpointUnreachable if nothing answers in time
   */
  async post(text: string, message: PushRequest, signal: AbortSignal): Promise<Answer> {
    const url = this.parse(text)
    const ends = AbortSignal.any([signal, AbortSignal.timeout(SEND_MS)])
    try {
      return await this.#postToAny(url, message, ends)
    } catch (error) {
      if (ends.aborted) throw new EndpointUnreachable('no answer in time')
      throw error
    }
  }

  async #postToAny(url: URL, message: PushRequest, signal: AbortSignal): Promise<Answer> {
    for (const address of await abortable(this.#addressesOf(hostOf(url)), signal)) {
      try {
        return await this.#postTo(address, url, message, signal)
      } catch {
        if (signal.aborted) break // Any other failure: try the next address.
      }
    }
    throw new EndpointUnreachable('no connection')
  }

  async #addressesOf(host: string): Promise<readonly string[]> {
    const found = isIP(host) ? [host] : await this.#network.resolve(host).catch(() => [])
    if (found.length === 0) throw new EndpointUnreachable('the name has no address')
    // If only some of the addresses are public, the name is probably an attack, not a push service. Refuse
    // all of them.
    const isAllowed = (address: string): boolean =>
      isPublicAddress(address) || this.#allowed.hasHost(host) || this.#allowed.hasAddress(address)
    if (!found.every(isAllowed)) throw new EndpointRefused('its address is not public')
    return found.slice(0, MOST_ADDRESSES)
  }

  // Connects to the address, so that the name is not resolved a second time. The certificate must still be
  // valid for the host name. Connections are not reused, because two hosts can share an address.
  #postTo(address: string, url: URL, message: PushRequest, signal: AbortSignal): Promise<Answer> {
    const host = hostOf(url)
    const post = {
      ...{ address, port: Number(url.port || 443), name: isIP(host) ? undefined : host },
      authorities: this.#network.authorities,
      target: `${url.pathname}${url.search}`,
      headers: { ...message.headers, host: url.host },
      body: message.body,
    }
    return postOnce(post, signal)
  }
}

function hostOf(url: URL): string {
  return bareHost(url.hostname)
}
