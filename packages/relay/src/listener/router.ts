// Builds the server's route of each endpoint: checks rate, token and schemas, calls the handler, writes the
// reply.
import {
  API_BASE,
  check,
  type Endpoint,
  type EndpointName,
  endpoints,
  type Limits,
  ProtocolError,
} from '@sotto/protocol'
import type { DiskSpace } from '../operations/disk-space.ts'
import { checkLength, readJsonBody } from './body.ts'
import { LongReplies } from './long-replies.ts'
import type { RequestRates } from './request-rates.ts'
import type { Caller, CheckedRequest, Handlers, RawBody } from './route.ts'
import { checkTexts } from './text-limits.ts'

const NOT_STORED = { 'cache-control': 'no-store' }
/** As the runtime writes it for short replies. */
const JSON_TYPE = { 'content-type': 'application/json;charset=utf-8' }

/** A request, with its parts that the server has already parsed. */
export interface Incoming {
  readonly request: Request
  readonly pathParams: Readonly<Record<string, string>>
  /** Parses the query; most endpoints have none. */
  readonly readQuery: () => Readonly<Record<string, string>>
  readonly address: string
  readonly host: string
  readonly loginHost: () => string
}

export interface RouterParts {
  readonly handlers: Handlers<EndpointName>
  /** @throws ProtocolError `UNAUTHENTICATED`, `TOKEN_DEAD` or `ACCOUNT_SUSPENDED` */
  readonly authenticate: (token: string, endpoint: EndpointName) => Promise<Caller>
  readonly rates: RequestRates
  readonly space: Pick<DiskSpace, 'check'>
  readonly limits: Limits
}

/** An endpoint as a route of the server. */
export interface Route {
  readonly name: EndpointName
  /** In the syntax of Bun's router: `/api/v1/friends/:id`. */
  readonly path: string
  readonly methods: readonly string[]
  /** @throws ProtocolError if the request is refused */
  answer(incoming: Incoming): Promise<Response>
}

/** Every endpoint as a route. */
export function createRoutes(parts: RouterParts): Route[] {
  const longReplies = new LongReplies(parts.rates)
  return Object.keys(endpoints)
    .filter(isEndpointName)
    .map((name) => createRoute(name, parts, longReplies))
}

function createRoute<N extends EndpointName>(name: N, parts: RouterParts, longReplies: LongReplies): Route {
  const endpoint: Endpoint = endpoints[name]
  const handle = parts.handlers[name]
  return {
    name,
    path: API_BASE + endpoint.path.replaceAll(/\{(\w+)\}/g, ':$1'),
    methods: [
      endpoint.method,
      ...(endpoint.alsoMethod ? [endpoint.alsoMethod] : []),
      ...(endpoint.rawReply ? ['HEAD'] : []),
    ],
    answer: async (incoming) => {
      const request = await checkRequest(name, incoming, parts)
      // The endpoint's schemas have just checked the request, so it has the type that the handler declares.
      const checked = request as CheckedRequest<N>
      if (endpoint.longReply && request.caller) {
        const text = await longReplies.write(request.caller.id, () => handle(checked))
        return new Response(text, { status: endpoint.status, headers: { ...NOT_STORED, ...JSON_TYPE } })
      }
      const reply = await handle(checked)
      if (reply instanceof Response) return reply
      // Published clients parse every answer as JSON, also one that says nothing.
      return Response.json(reply ?? {}, { status: endpoint.status, headers: NOT_STORED })
    },
  }
}

async function checkRequest(name: EndpointName, incoming: Incoming, parts: RouterParts) {
  const endpoint: Endpoint = endpoints[name]
  const { request, address, host, loginHost } = incoming
  const rate = endpoint.rate
  if (endpoint.auth === 'none' || rate === 'lookup') parts.rates.take(rate, address)
  const caller = endpoint.auth === 'account' ? await authenticated(name, incoming, parts) : undefined
  if (caller && rate !== 'lookup') parts.rates.take(rate, caller.id)
  if (endpoint.adds) parts.space.check(endpoint.adds)
  checkLength(request, mostBytesOf(endpoint, parts.limits))
  const params = endpoint.params ? checkParams(endpoint.params, incoming.pathParams) : undefined
  const query = endpoint.query ? check(endpoint.query, incoming.readQuery()) : undefined
  const asked = endpoint.rawReply ? request : undefined
  const signal = endpoint.longReply ? signalOf(request) : undefined
  const body = await bodyOf(endpoint, request, parts.limits)
  return { caller, address, host, loginHost, params, query, body, asked, signal }
}

// The reply to HEAD has no body, as if the client had gone away before it.
function signalOf(request: Request): AbortSignal {
  return request.method === 'HEAD' ? AbortSignal.abort() : request.signal
}

async function bodyOf(endpoint: Endpoint, request: Request, limits: Limits): Promise<unknown> {
  const mostBytes = mostBytesOf(endpoint, limits)
  if (endpoint.rawBody) return rawBodyOf(request, mostBytes)
  if (!endpoint.body) return undefined
  const body = check(endpoint.body, await readJsonBody(request, mostBytes))
  checkTexts(body, endpoint, limits)
  return body
}

function rawBodyOf(request: Request, mostBytes: number): RawBody {
  const length = request.headers.get('content-length')
  return {
    pieces: request.body ?? undefined,
    length: length === null ? undefined : Number(length),
    mostBytes,
  }
}

// JSON may write one character with six bytes (\uXXXX).
function mostBytesOf({ largeBody, bodyLimit, rawBody }: Endpoint, limits: Limits): number {
  const ownLimit = rawBody ?? bodyLimit
  if (ownLimit) return limits[ownLimit]
  return limits.bodyBytes + (largeBody ? limits[largeBody] * 6 : 0)
}

// A request without a valid token is counted by its address, because it has no account.
async function authenticated(
  name: EndpointName,
  { request, address }: Incoming,
  parts: RouterParts,
): Promise<Caller> {
  try {
    return await parts.authenticate(bearerToken(request), name)
  } catch (error) {
    parts.rates.take('login', address)
    throw error
  }
}

// A malformed path parameter cannot name anything, so the answer is NOT_FOUND.
function checkParams(
  schema: NonNullable<Endpoint['params']>,
  given: Readonly<Record<string, string>>,
): object {
  try {
    return check(schema, given)
  } catch {
    throw new ProtocolError('NOT_FOUND')
  }
}

/** The token of an Authorization header. @throws ProtocolError `UNAUTHENTICATED` */
export function bearerToken(request: Request): string {
  const token = /^Bearer +(?<token>[\w-]+\.[\w-]+\.[\w-]+) *$/i.exec(
    request.headers.get('authorization') ?? '',
  )?.groups?.token
  if (token === undefined) throw new ProtocolError('UNAUTHENTICATED')
  return token
}

function isEndpointName(name: string): name is EndpointName {
  return Object.hasOwn(endpoints, name)
}
