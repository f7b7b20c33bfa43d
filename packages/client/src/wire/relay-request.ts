// Builds the request for a call of an endpoint and checks its reply, both with the endpoint's entry in the
// table.
import { API_BASE, check, type Endpoint, ProtocolError } from '@sotto/protocol'
import * as v from 'valibot'
import { ClientError } from '../client-error.ts'

/** A request to a relay. Tabs also send it to each other. */
export const RelayRequest = v.object({
  method: v.picklist(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
  /** The path after the relay's address, with the query. */
  path: v.string(),
  auth: v.picklist(['none', 'account']),
  /** The body, in JSON. */
  body: v.optional(v.string()),
  /** Set if repeating the request would repeat its effect. */
  notIdempotent: v.optional(v.literal(true)),
})
/** See {@link RelayRequest}. */
export type RelayRequest = v.InferOutput<typeof RelayRequest>

type Text = string | number

/** The input of a call of an endpoint. */
export type CallInput<E extends Endpoint> = (E extends { params: infer P extends v.GenericSchema }
  ? { readonly params: { readonly [K in keyof v.InferInput<P>]: Text } }
  : object) &
  (E extends { query: infer Q extends v.GenericSchema }
    ? { readonly query?: { readonly [K in keyof v.InferInput<Q>]?: Text | undefined } }
    : object) &
  (E extends { body: infer B extends v.GenericSchema } ? { readonly body: v.InferInput<B> } : object)

/** The reply of an endpoint; undefined if it has none. */
export type CallReply<E extends Endpoint> = E extends { reply: infer R extends v.GenericSchema }
  ? v.InferOutput<R>
  : undefined

interface Parts {
  readonly params?: Readonly<Record<string, Text>>
  readonly query?: Readonly<Record<string, Text | undefined>>
  readonly body?: unknown
}

/** Builds the request for a call. */
export function requestOf<E extends Endpoint>(endpoint: E, input: CallInput<E>): RelayRequest {
  const { params = {}, query, body }: Parts = input
  const path = endpoint.path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(params[name])),
  )
  const search = query ? `?${new URLSearchParams(textsOf(query))}` : ''
  return {
    method: endpoint.method,
    path: API_BASE + path + search,
    auth: endpoint.auth,
    body: body === undefined ? undefined : JSON.stringify(body),
    notIdempotent: endpoint.notIdempotent,
  }
}

/**
 * Checks the input of a call against its endpoint's schemas. For callers that pass on the input of an
 * application.
 * @throws ClientError `INVALID_ARGUMENT`
 */
export function checkInput<E extends Endpoint>(endpoint: E, input: CallInput<E>): void {
  const { params, query, body }: Parts = input
  try {
    if (endpoint.params) check(endpoint.params, textsOf(params ?? {}))
    if (endpoint.query) check(endpoint.query, textsOf(query ?? {}))
    if (endpoint.body) check(endpoint.body, body)
  } catch (cause) {
    if (!(cause instanceof ProtocolError)) throw cause
    throw new ClientError('INVALID_ARGUMENT', `${cause.details.field} ${cause.details.rule}`, { cause })
  }
}

function textsOf(values: Readonly<Record<string, Text | undefined>>): Record<string, string> {
  const given = Object.entries(values).filter(([, value]) => value !== undefined)
  return Object.fromEntries(given.map(([name, value]) => [name, String(value)]))
}

/** Reads the reply in a relay's answer. @throws ClientError `BAD_REPLY` */
export function readReply<E extends Endpoint>(endpoint: E, text: string): CallReply<E> {
  try {
    const reply: unknown = endpoint.reply ? check(endpoint.reply, JSON.parse(text)) : undefined
    // The schema of `E` has just accepted it.
    return reply as CallReply<E>
  } catch (error) {
    throw new ClientError('BAD_REPLY', `the relay’s answer is no reply of ${endpoint.path}`, {
      cause: error,
    })
  }
}
