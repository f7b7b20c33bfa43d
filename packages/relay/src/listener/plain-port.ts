// Port 80 of a relay with TLS of its own: sends browsers to https, and answers the ACME server that checks
// whether the host is ours.
import { API_BASE } from '@sotto/protocol'
import type { AcmeChallenges } from '../certificates/certificates.ts'
import { type OpenPort, openPort } from './open-port.ts'

const CHALLENGES = '/.well-known/acme-challenge/'
const IDLE_SECONDS = 5

export interface PlainPortParts {
  readonly host: string
  readonly port: number
  /** Whether other processes of the relay have the same port. */
  readonly sharesPort?: boolean
  /** The relay's address for clients, such as `https://relay.example`. */
  readonly address: string
  /** The answers that the ACME server waits for, by token. */
  readonly challenges: Pick<AcmeChallenges, 'find'>
}

/** Opens the port. @throws SettingError if it cannot be had */
export function startPlainPort({ host, port, sharesPort, address, challenges }: PlainPortParts): OpenPort {
  const answer = async (request: Request): Promise<Response> => {
    // Cut out by hand, because the URL contains the Host header, which may be any text.
    const [, path = '/', query = ''] = /^(?:\w+:\/\/[^/?]*)?([^?]*)(\?.*)?$/s.exec(request.url) ?? []
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    if (isRead && path.startsWith(CHALLENGES)) {
      const text = await challenges.find(path.slice(CHALLENGES.length))
      return new Response(text ?? '', { status: text === undefined ? 404 : 200, headers: HEADERS })
    }
    // A client that sends its token without TLS must fail, so that somebody notices.
    const isForClients = path === '/ws' || path.startsWith(`${API_BASE}/`)
    if (!isRead || isForClients)
      return new Response('This relay speaks only https.\n', { status: 403, headers: HEADERS })
    return new Response(null, { status: 308, headers: { ...HEADERS, location: `${address}${path}${query}` } })
  }
  return openPort('HTTP_PORT', 'a port on which this user may listen and nothing else does', {
    hostname: host,
    port,
    reusePort: sharesPort ?? false,
    idleTimeout: IDLE_SECONDS,
    fetch: answer,
  })
}

const HEADERS = {
  'content-type': 'text/plain;charset=utf-8',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  connection: 'close',
}
