// Serves the relay's port: HTTP endpoints, the WebSocket upgrade, pages, health, and the API documents.
import { endpoints, type Limits, ProtocolError, type RegistrationMode } from '@sotto/protocol'
import { asyncApiDocument, openApiDocument } from '@sotto/protocol/documents'
import type { CertificatePair } from '../certificates/certificates.ts'
import type { Admission, Gateway, SocketData } from '../gateway/gateway.ts'
import type { Clock } from '../operations/clock.ts'
import type { Log } from '../operations/log.ts'
import type { Readiness } from '../operations/readiness.ts'
import type { RelayMetrics } from '../operations/relay-metrics.ts'
import { clientAddress } from './address.ts'
import { type AnswerHeaderParts, apiAnswers, type Finish, PREFLIGHT, pageAnswers } from './answer-headers.ts'
import { connectionCapsOf } from './connection-caps.ts'
import { ConnectionsInUse, connectionKey, type Use, type User } from './connections-in-use.ts'
import { type LoginHost, loginHostOf } from './login-host.ts'
import { plainResponse, problemResponse, refusalOf } from './problem.ts'
import type { RequestRates } from './request-rates.ts'
import { RequestsAtOnce } from './requests-at-once.ts'
import { bearerToken, createRoutes, type RouterParts } from './router.ts'
import { type RelayServer, type ServerOptions, Servers } from './servers.ts'
import { checkSocketOrigin } from './socket-origin.ts'
import { UnusedConnections } from './unused-connections.ts'
import { isForPage, type WebApp } from './web-app.ts'
import type { WebPage } from './web-pages.ts'

/** What an upgrade request presents to be admitted. */
export interface Credentials {
  readonly uuid: string | undefined
  readonly ticket: string | undefined
  readonly token: string | undefined
}

export interface ListenerParts extends RouterParts, AnswerHeaderParts {
  readonly gateway: Gateway
  /** The pages that features serve besides the API. */
  readonly pages: readonly WebPage[]
  /** The web app; undefined if the relay serves none. */
  readonly app: WebApp | undefined
  /**
   * @throws ProtocolError `UNAUTHENTICATED` or `TICKET_INVALID` if the token or ticket is not from this relay
   */
  readonly admit: (credentials: Credentials) => Promise<Admission>
  /** Whether the relay can do its work. */
  readonly readiness: () => Promise<Readiness>
  readonly rates: RequestRates
  readonly limits: Limits
  readonly metrics: RelayMetrics
  /** The most file descriptors that the process may have open. */
  readonly descriptorLimit: number
  readonly version: string
  /** Who may register, for `/health`. */
  readonly admission: { readonly registration: RegistrationMode }
  readonly log: Log
  readonly clock: Clock
  readonly port: number
  readonly host: string
  /** Whether other processes of the relay have the same port. */
  readonly sharesPort: boolean
  /** The certificate to begin with; undefined if the port speaks no TLS. */
  readonly certificate: CertificatePair | undefined
  /** The port that sends browsers to https; its connections are counted, too. */
  readonly plainPort?: number | undefined
  /** The relay's host for clients. If undefined, the host that each request names. */
  readonly publicHost: string | undefined
  /** What login challenges are bound to. */
  readonly loginHost: LoginHost
  readonly trustedProxies: number
}

/** The open port. */
export interface Listener {
  readonly port: number
  /** Refuses new requests and upgrades from now on. */
  refuse(): void
  /** New connections get this certificate; those that are open stay. Only if there was one at the start. */
  useCertificate(certificate: CertificatePair): void
  /** Closes the port after the running requests have ended, at most after `mostMs`. */
  close(mostMs: number): Promise<void>
}

/** The paths that the listener serves besides the endpoints and the pages of features. */
export const OTHER_PATHS = ['/', '/health', '/ready', '/ws', '/openapi.json', '/asyncapi.json'] as const

type RoutedRequest = Request & { params?: Record<string, string> }
/** A request of somebody who may have a connection. */
interface Asked {
  readonly request: RoutedRequest
  readonly server: RelayServer
  /** The address that rates count. */
  readonly address: string
  readonly use: Use
}
type Answer = (asked: Asked) => Promise<Response | undefined>
type Served = (request: RoutedRequest, server: RelayServer) => Promise<Response | undefined>

/**
 * So large that Bun never refuses a body. The endpoints refuse large bodies themselves, with a problem
 * document.
 */
const MOST_BODY_BYTES = Number.MAX_SAFE_INTEGER

export function startListener(parts: ListenerParts): Listener {
  const { metrics } = parts
  const finishAnswer = apiAnswers(parts)
  const caps = connectionCapsOf(parts.limits, parts.descriptorLimit)
  const inUse = new ConnectionsInUse(caps, parts)
  const requestsAtOnce = new RequestsAtOnce()
  let isRefusing = false
  let isNearlyFull = (): boolean => false

  const guardedBy =
    (refuse: typeof problemResponse, finish: Finish, isPage = false) =>
    (endpoint: string, answer: Answer, isForAccounts = false): Served =>
    async (request, server) => {
      let use: Use | undefined
      let isFurther = false
      const startedAt = parts.clock.monotonic()
      const counted = (response: Response): Response => {
        // The app has a page for each of its files.
        metrics.requests.count(isPage ? 'page' : endpoint, `${Math.floor(response.status / 100)}xx`)
        metrics.requestSeconds.observe((parts.clock.monotonic() - startedAt) / 1000)
        return response
      }
      try {
        if (isRefusing) throw new ProtocolError('SHUTTING_DOWN')
        const caller = callerOf(request, server)
        isFurther = requestsAtOnce.isFurther(caller.key)
        use = inUse.begin({ ...caller, isForAccounts })
        const response = await answer({ request, server, address: caller.address, use })
        if (!response) return undefined // It is a WebSocket now, which is counted until it is closed.
        use.end()
        return sent(counted(finish(request, response)), isFurther || servers.isOld(server))
      } catch (error) {
        use?.end()
        const refusal = refusalOf(error, parts.log, endpoint)
        metrics.errors.count(refusal.code)
        const response = counted(finish(request, refuse(refusal, parts.log, endpoint)))
        return sent(response, isFurther || !use || servers.isOld(server))
      }
    }
  // A connection that is kept after its request could take the place of another one.
  const sent = (response: Response, isLast: boolean): Response => {
    if (isLast || isNearlyFull()) response.headers.set('connection', 'close')
    return response
  }
  const guarded = guardedBy(problemResponse, finishAnswer)
  const guardedPage = guardedBy(plainResponse, pageAnswers(parts), true)

  const warnOfProxy = once(() =>
    parts.log.warn('client_address_missing', {
      setting: 'TRUST_PROXY',
      reason: 'a request had no address in X-Forwarded-For; without it, rates count the proxy’s own address',
    }),
  )
  const callerOf = (request: Request, server: RelayServer): Omit<User, 'isForAccounts'> => {
    const { address: peer, port } = server.requestIP(request) ?? { address: '', port: 0 }
    const forwarded = request.headers.get('x-forwarded-for')
    return {
      address: clientAddress(peer, forwarded, parts.trustedProxies, () => {
        // A proxy asks for these by itself.
        if (!/\/(?:ready|health)$/.test(request.url)) warnOfProxy()
      }),
      key: connectionKey(peer, port),
    }
  }

  const hostFor = (request: Request): string => parts.publicHost ?? hostOf(request) ?? 'localhost'

  const warnOfHost = once(() =>
    parts.log.warn('login_host_refused', {
      setting: 'PUBLIC_URL',
      reason: 'a login came under a name that is not of this machine; PUBLIC_URL must name it',
    }),
  )
  const loginHostFor = (request: Request): string => {
    try {
      return loginHostOf(hostOf(request), parts.loginHost)
    } catch (error) {
      warnOfHost()
      throw error
    }
  }

  const upgrade = async ({ request, server, address, use }: Asked): Promise<undefined> => {
    parts.rates.take('upgrade', address)
    if (request.headers.get('upgrade')?.toLowerCase() !== 'websocket')
      throw new ProtocolError('UPGRADE_REQUIRED')
    const ownHost = hostFor(request)
    checkSocketOrigin(request.headers.get('origin'), { corsOrigins: parts.corsOrigins, ownHost })
    const admission = await parts.admit(credentialsOf(request))
    const data = { admission, onClosed: () => use.end() }
    if (!server.upgrade(request, { data })) throw new ProtocolError('UPGRADE_REQUIRED')
    return undefined
  }

  const preflight = guarded('preflight', async () => new Response(null, { status: 204, headers: PREFLIGHT }))
  const apiRoutes = createRoutes(parts)
  const table: Record<string, Record<string, Served>> = {}
  const serve = (path: string, methods: readonly string[], answer: Served): void => {
    table[path] ??= {}
    for (const method of methods) Object.assign(table[path], { [method]: answer })
  }
  for (const route of apiRoutes) {
    const answer = guarded(
      route.name,
      ({ request, address }) =>
        route.answer({
          request,
          pathParams: request.params ?? {},
          readQuery: () => Object.fromEntries(new URLSearchParams(targetOf(request).query)),
          address,
          host: hostFor(request),
          loginHost: () => loginHostFor(request),
        }),
      endpoints[route.name].auth === 'account',
    )
    serve(route.path, route.methods, answer)
  }
  for (const page of [...parts.pages, ...(parts.app?.pages ?? [])]) {
    const answer = guardedPage(page.path, async ({ request, address }) => {
      parts.rates.take(page.rate, address)
      return page.answer({ request, params: request.params ?? {}, address, host: hostFor(request) })
    })
    serve(page.path, page.methods, answer)
  }
  const welcomed = guarded('/', async () => new Response(welcome(parts.version), VARIES))
  const homeOf = (app: WebApp | undefined): Served => {
    if (!app) return welcomed
    const home = guardedPage('/', async ({ request, address }) => {
      parts.rates.take('page', address)
      return app.home(request)
    })
    return (request, server) => (isForPage(request) ? home(request, server) : welcomed(request, server))
  }
  // Written once: that takes milliseconds.
  const openApi = JSON.stringify(openApiDocument(parts.version))
  const asyncApi = JSON.stringify(asyncApiDocument(parts.version))
  const health = { status: 'ok', version: parts.version, registration: parts.admission.registration }
  const others: Readonly<Record<(typeof OTHER_PATHS)[number], Served>> = {
    '/': homeOf(parts.app),
    '/health': guarded('/health', async () => Response.json(health)),
    '/ready': guarded('/ready', async () => {
      const { ready, parts: states } = await parts.readiness()
      return Response.json(
        { status: ready ? 'ready' : 'not_ready', ...states },
        { status: ready ? 200 : 503 },
      )
    }),
    '/ws': guarded('/ws', upgrade, true),
    '/openapi.json': guarded('/openapi.json', async () => new Response(openApi, JSON_TEXT)),
    '/asyncapi.json': guarded('/asyncapi.json', async () => new Response(asyncApi, JSON_TEXT)),
  }
  for (const path of OTHER_PATHS) serve(path, ['GET'], others[path])

  const websocket = parts.gateway.webSocket()
  const open = ({ tls, ...options }: ServerOptions): RelayServer =>
    Bun.serve<SocketData>({
      hostname: parts.host,
      ...options,
      ...(tls ? { tls } : {}),
      maxRequestBodySize: MOST_BODY_BYTES,
      idleTimeout: 30,
      development: false, // Bun's own error pages show source code.
      routes: table,
      fetch: (request, self) => {
        if (request.method === 'OPTIONS') return preflight(request, self)
        return guarded('unknown', async () => {
          throw notServed(request.method, targetOf(request).path, table)
        })(request, self)
      },
      websocket,
      error: (error) => problemResponse(error, parts.log, 'unknown'),
    })
  const servers = new Servers(open, {
    port: parts.port,
    tls: parts.certificate,
    plainPort: parts.plainPort,
    sharesPort: parts.sharesPort,
  })
  parts.gateway.attach(servers)
  const unused = new UnusedConnections({
    ...parts,
    caps,
    inUse,
    tcp: servers.tcp,
    closeIdle: () => servers.closeIdle(),
  })
  isNearlyFull = () => unused.isNearlyFull
  return {
    port: servers.port,
    useCertificate: (certificate) => servers.useCertificate(certificate),
    refuse: () => {
      isRefusing = true
    },
    close: async (mostMs) => {
      unused.stop()
      await servers.close(mostMs)
    },
  }
}

function once(act: () => void): () => void {
  let isDone = false
  return () => {
    if (!isDone) act()
    isDone = true
  }
}

function credentialsOf(request: Request): Credentials {
  const query = new URLSearchParams(targetOf(request).query)
  const ticket = query.get('ticket') ?? undefined
  const token = query.get('token') ?? undefined
  const inUrl = ticket !== undefined || token !== undefined
  return {
    uuid: query.get('user_uuid') ?? undefined,
    ticket,
    // If the URL has a ticket or token, the header is ignored: it may be meant for a proxy.
    token: inUrl || !request.headers.has('authorization') ? token : bearerToken(request),
  }
}

// The path and query as the client sent them. They are cut out of `request.url` by hand, because that
// contains the Host header, which may be any text.
function targetOf(request: Request): { path: string; query: string } {
  const [, path = '', query = ''] = /^(?:\w+:\/\/[^/?]*)?([^?]*)\??(.*)$/s.exec(request.url) ?? []
  return { path, query }
}

// A path that is served, but with other methods, gets METHOD_NOT_ALLOWED instead of NOT_FOUND.
function notServed(method: string, path: string, table: Readonly<Record<string, object>>): ProtocolError {
  const segments = path.split('/')
  const served = Object.entries(table).filter(([pattern]) => {
    const expected = pattern.split('/')
    const fits = (part: string, i: number): boolean =>
      part.startsWith(':') ? segments[i] !== '' : part === segments[i]
    return expected.length === segments.length && expected.every(fits)
  })
  const allow = [...new Set(served.flatMap(([, methods]) => Object.keys(methods)))]
  return allow.length === 0 || allow.includes(method)
    ? new ProtocolError('NOT_FOUND')
    : new ProtocolError('METHOD_NOT_ALLOWED', { allow })
}

// The host that the client believes it talks to. The header may be any text, so only a valid host is used, of
// which links can be made.
function hostOf(request: Request): string | undefined {
  const host = request.headers.get('host')?.toLowerCase() ?? ''
  const hasForm = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/.test(host) && host.length <= 255
  return hasForm && URL.canParse(`http://${host}`) ? host : undefined
}

/** The same address has a page for browsers. */
const VARIES = { headers: { vary: 'Accept' } }
const JSON_TEXT = { headers: { 'content-type': 'application/json;charset=utf-8' } }

function welcome(version: string): string {
  return `Sotto relay ${version}\n\nHealth: /health  /ready\nInterface: /openapi.json  /asyncapi.json\n`
}
