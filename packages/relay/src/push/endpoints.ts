// Asking endpoints that an attacker may have chosen: https only, public addresses only, never led elsewhere, in bounded time.
// What was checked is what is connected to: a name is resolved once, and the address, not the name, is asked.
import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { inTime } from './in-time.ts'
import { type Answer, postOnce } from './post-once.ts'
import { type AllowedHosts, isPublicAddress } from './public-addresses.ts'
import { SEND_MS } from './push-service.ts'

/** Nothing is sent to such an endpoint. The message says why, in our words. */
export class EndpointRefused extends Error {
  override readonly name = 'EndpointRefused'
}

/** The endpoint gave no answer. The message says why, in our words. */
export class EndpointUnreachable extends Error {
  override readonly name = 'EndpointUnreachable'
}

/** How hosts are found and believed. */
export interface Network {
  /** The addresses of a host. @throws where there are none */
  resolve(host: string): Promise<readonly string[]>
  /** Certificate authorities in place of those the system trusts, as PEM. */
  readonly authorities?: string
}

/** The system's own. Further authorities are named by `NODE_EXTRA_CA_CERTS`. */
export const systemNetwork: Network = {
  resolve: async (host) => {
    const found = await lookup(host, { all: true })
    return found.map(({ address }) => address)
  },
}

/** What is posted. */
export interface PushRequest {
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array<ArrayBuffer>
}

/** Ports below are those of other protocols, which an attacker might like to have spoken to. */
const LEAST_OTHER_PORT = 1024
const MOST_ADDRESSES = 3

export class Endpoints {
  readonly #allowed: AllowedHosts
  readonly #network: Network

  constructor(parts: { allowed: AllowedHosts; network: Network }) {
    this.#allowed = parts.allowed
    this.#network = parts.network
  }

  /**
   * The URL of an endpoint that may be asked, as far as its text tells.
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
   * @throws EndpointRefused, and EndpointUnreachable where nothing answers in time
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
    for (const address of await inTime(this.#addressesOf(hostOf(url)), signal)) {
      try {
        return await this.#postTo(address, url, message, signal)
      } catch {
        if (signal.aborted) break // Whatever went wrong with this address, the next may do.
      }
    }
    throw new EndpointUnreachable('no connection')
  }

  async #addressesOf(host: string): Promise<readonly string[]> {
    const found = isIP(host) ? [host] : await this.#network.resolve(host).catch(() => [])
    if (found.length === 0) throw new EndpointUnreachable('the name has no address')
    // One that is not public among others that are is somebody's attempt, not somebody's push service.
    const isAllowed = (address: string): boolean =>
      isPublicAddress(address) || this.#allowed.hasHost(host) || this.#allowed.hasAddress(address)
    if (!found.every(isAllowed)) throw new EndpointRefused('its address is not public')
    return found.slice(0, MOST_ADDRESSES)
  }

  // It is the address that is connected to, so that nothing is resolved a second time. The certificate has to be the host's
  // all the same, and a connection is not kept: two hosts can share an address.
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
  return url.hostname.replace(/^\[(.*)\]$/, '$1')
}
