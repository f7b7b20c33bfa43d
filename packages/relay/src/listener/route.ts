// The types by which features handle endpoints: a handler gets a checked request and returns the reply.
import type { BodyOf, EndpointName, endpoints, ParamsOf, QueryOf, ReplyOf } from '@sotto/protocol'
import type { AccountId } from '../storage/storage.ts'

/** The account that sent an authenticated request, and the token it used. */
export interface Caller {
  readonly id: AccountId
  readonly jti: string
  /** When the token expires, in milliseconds since 1970. */
  readonly tokenExpiresAt: number
}

/** A request body of bytes that is not read yet. */
export interface RawBody {
  /** Its pieces as they arrive; undefined if there is no body. Fails if the client disconnects. */
  readonly pieces: ReadableStream<Uint8Array> | undefined
  /** Its announced length, at most the endpoint's limit; undefined if the body is sent in chunks. */
  readonly length: number | undefined
  /** The endpoint's limit. The handler must enforce it on a body without an announced length. */
  readonly mostBytes: number
}

type Table = typeof endpoints
type Has<N extends EndpointName, Flag extends string> = Table[N] extends Record<Flag, unknown> ? true : false

/** A request that passed authentication, rates and the schemas of its endpoint. */
export interface CheckedRequest<N extends EndpointName> {
  readonly params: ParamsOf<N>
  readonly query: QueryOf<N>
  readonly body: Has<N, 'rawBody'> extends true ? RawBody : BodyOf<N>
  readonly caller: Table[N]['auth'] extends 'account' ? Caller : undefined
  /** The address that rates count: an IPv4 address or an IPv6 /64. */
  readonly address: string
  /** The host that the client believes it talks to, including the port. */
  readonly host: string
  /** The host that login challenges are bound to. @throws ProtocolError `HOST_UNKNOWN` */
  readonly loginHost: () => string
  /** For a reply of bytes: the method and headers, which may request a range or only the headers. */
  readonly asked: Has<N, 'rawReply'> extends true ? Pick<Request, 'method' | 'headers'> : undefined
  /** For a long reply: aborts if the client goes away before it has the whole reply. */
  readonly signal: Has<N, 'longReply'> extends true ? AbortSignal : undefined
}

/**
 * The result of a handler: the reply that the protocol defines, or the whole response for a reply of bytes.
 */
type AnswerOf<N extends EndpointName> = Has<N, 'rawReply'> extends true ? Response : ReplyOf<N>

/** Handlers of some endpoints, by name. */
export type Handlers<N extends EndpointName> = {
  readonly [K in N]: (request: CheckedRequest<K>) => Promise<AnswerOf<K>>
}
