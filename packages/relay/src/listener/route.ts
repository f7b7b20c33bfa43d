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

/** A request that passed authentication, rates and the schemas of its endpoint. */
export interface Call<N extends EndpointName> {
  readonly params: ParamsOf<N>
  readonly query: QueryOf<N>
  readonly body: BodyOf<N>
  readonly caller: (typeof endpoints)[N]['auth'] extends 'account' ? Caller : undefined
  /** What rates by address count for: an IPv4 address or an IPv6 /64. */
  readonly address: string
  /** The host the client believes it speaks to, port included. */
  readonly host: string
}

/** Answers of some endpoints, by name. */
export type Handlers<N extends EndpointName> = { readonly [K in N]: (call: Call<K>) => Promise<ReplyOf<K>> }
