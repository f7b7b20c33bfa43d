// What an endpoint is: path, who may call it, its rate, body, reply and errors, as data.
import type * as v from 'valibot'
import type { ErrorCode } from '../errors.ts'
import type { LimitName } from '../limits.ts'
import type { RateName } from '../rates.ts'

/** The prefix of every endpoint's path. */
export const API_BASE = '/api/v1'

/** One endpoint, as data. */
export interface Endpoint {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** A method published clients use for the same thing. */
  readonly alsoMethod?: 'POST'
  /** Under `/api/v1`; `{name}` is a parameter of `params`. */
  readonly path: string
  readonly auth: 'none' | 'account'
  readonly rate: RateName
  readonly params?: v.GenericSchema<unknown, Record<string, unknown>>
  /** What may stand behind `?`; everything in it is text. */
  readonly query?: v.GenericSchema<unknown, Record<string, unknown>>
  readonly body?: v.GenericSchema
  /** Where a body may be larger than `bodyBytes`: by six times this limit, for what JSON can make of it. */
  readonly largeBody?: LimitName
  /** Where the body is bytes and no JSON: the limit that says how many. Its handler reads them as they come. */
  readonly rawBody?: LimitName
  /** Where the reply is bytes: its handler answers the whole response, of HEAD too. */
  readonly rawReply?: true
  readonly status: 200 | 201 | 204
  readonly reply?: v.GenericSchema
  /** Done twice, it is done twice: who got no answer must look before asking again. */
  readonly notIdempotent?: true
  /** Codes it answers besides those any endpoint can. */
  readonly errors: readonly ErrorCode[]
}

/** A line on each endpoint of a table. Apart from it: clients take the table along, and show no lines. */
export type Summaries<T> = Readonly<Record<keyof T, string>>

/** Keeps each endpoint's own type. */
export function define<const T extends Record<string, Endpoint>>(table: T): T {
  return table
}

/** What refuses an order, whatever it is for. */
export const ORDERING = ['PAYMENTS_UNAVAILABLE', 'TOO_MANY_ORDERS'] as const satisfies ErrorCode[]
