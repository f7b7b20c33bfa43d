// An endpoint as data: path, who may call it, rate, body, reply and errors.
import type * as v from 'valibot'
import type { ErrorCode } from '../errors.ts'
import type { LimitName } from '../limits.ts'
import type { RateName } from '../rates.ts'

/** The prefix of every endpoint's path. */
export const API_BASE = '/api/v1'

/** How much a request adds to the store. */
export type Adds = 'much' | 'little'

/** A limit of a text. */
export type TextLimitName = Extract<LimitName, `${string}Characters` | 'postBytes'>

/** One endpoint, as data. */
export interface Endpoint {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Another method that published clients use for this endpoint. */
  readonly alsoMethod?: 'POST'
  /** Under `/api/v1`; `{name}` is a parameter of `params`. */
  readonly path: string
  readonly auth: 'none' | 'account'
  readonly rate: RateName
  readonly params?: v.GenericSchema<unknown, Record<string, unknown>>
  /** The query after `?`; all its values are text. */
  readonly query?: v.GenericSchema<unknown, Record<string, unknown>>
  readonly body?: v.GenericSchema
  /**
   * Allows a body larger than `bodyBytes` by six times this limit, because JSON escapes can lengthen text
   * that much.
   */
  readonly largeBody?: LimitName
  /** Bounds the body instead of `bodyBytes`. */
  readonly bodyLimit?: LimitName
  /**
   * Text fields of the body, each with the limit that bounds it. A relay may set it lower than the schema
   * does. The end of the limit's name says whether it counts characters or bytes of UTF-8.
   */
  readonly textLimits?: Readonly<Record<string, TextLimitName>>
  /** The body is raw bytes up to this limit, not JSON. The handler reads them as a stream. */
  readonly rawBody?: LimitName
  /** The reply is raw bytes. The handler answers the whole response, also for HEAD. */
  readonly rawReply?: true
  readonly status: 200 | 201
  /** Absent if there is nothing to say: the relay then answers `{}`, older ones 204. Clients read neither. */
  readonly reply?: v.GenericSchema
  /**
   * The reply may be long. Its bytes count by the rate `longReply`, and an account gets such replies one
   * after the other.
   */
  readonly longReply?: true
  /**
   * A repeated request has a second effect. A client that got no answer must check before it repeats the
   * request.
   */
  readonly notIdempotent?: true
  /**
   * What it adds to the store. A relay whose disk is short of space refuses `much`; one whose disk is full
   * refuses `little` too. An endpoint without it is never refused for lack of space: it reads, erases or
   * confirms, or people need it to fetch their messages.
   */
  readonly adds?: Adds
  /** Codes that it answers besides those that every endpoint can answer. */
  readonly errors: readonly ErrorCode[]
}

/**
 * One line about each endpoint of a table. Separate from the table, so that clients do not bundle the texts.
 */
export type Summaries<T> = Readonly<Record<keyof T, string>>

/** Keeps the exact type of each endpoint. */
export function define<const T extends Record<string, Endpoint>>(table: T): T {
  return table
}

/** Errors of every order, no matter what it is for. */
export const ORDERING = ['PAYMENTS_UNAVAILABLE', 'TOO_MANY_ORDERS'] as const satisfies ErrorCode[]
