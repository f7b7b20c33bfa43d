// How a feature answers an endpoint: a function from a checked call to the reply the contract names.
import type { BodyOf, EndpointName, endpoints, ParamsOf, QueryOf, ReplyOf } from '@sotto/protocol'
import type { AccountId } from '../storage/storage.ts'

/** Who calls: an account, and the token it came with. */
export interface Caller {
  readonly id: AccountId
  readonly jti: string
  /** When the token dies by itself, in milliseconds since 1970. */
  readonly tokenExpiresAt: number
}

/** A body of bytes, not read yet. */
export interface RawBody {
  /** Its pieces as they come; undefined where there are none. Rejects where the connection is cut. */
  readonly pieces: ReadableStream<Uint8Array> | undefined
  /** Its announced length; undefined where it comes in chunks of its own. Never more than the endpoint's limit. */
  readonly length: number | undefined
  /** The endpoint's limit, which a body without an announced length has to be held to. */
  readonly mostBytes: number
}

type Table = typeof endpoints
type Has<N extends EndpointName, Flag extends string> = Table[N] extends Record<Flag, unknown> ? true : false

/** A request that passed authentication, rates and the schemas of its endpoint. */
export interface Call<N extends EndpointName> {
  readonly params: ParamsOf<N>
  readonly query: QueryOf<N>
  readonly body: Has<N, 'rawBody'> extends true ? RawBody : BodyOf<N>
  readonly caller: Table[N]['auth'] extends 'account' ? Caller : undefined
  /** What rates by address count for: an IPv4 address or an IPv6 /64. */
  readonly address: string
  /** The host the client believes it speaks to, port included. */
  readonly host: string
  /** What was asked of bytes that are the reply: a range, or only their headers. */
  readonly asked: Has<N, 'rawReply'> extends true ? Pick<Request, 'method' | 'headers'> : undefined
}

/** What a handler gives: the reply as the contract has it, or the whole response where that is bytes. */
type AnswerOf<N extends EndpointName> = Has<N, 'rawReply'> extends true ? Response : ReplyOf<N>

/** Answers of some endpoints, by name. */
export type Handlers<N extends EndpointName> = { readonly [K in N]: (call: Call<K>) => Promise<AnswerOf<K>> }
