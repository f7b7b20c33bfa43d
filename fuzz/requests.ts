// Requests for the endpoints that a relay describes in its OpenAPI document: valid and almost valid ones.
import fc from 'fast-check'
import { UPGRADE } from '../packages/relay/test/raw.ts'
import { type Schema, valuesOf } from './from-schema.ts'
import type { Draws } from './inputs.ts'
import { live } from './live-values.ts'
import { anyText, anyValue, heavyJson, mutated } from './values.ts'

/** An operation of the OpenAPI document. */
export interface Operation {
  readonly method: string
  readonly path: string
  readonly parameters: readonly { name: string; in: 'path' | 'query'; required: boolean; schema: Schema }[]
  /** The schema of a JSON body; `bytes` if the body is not JSON. */
  readonly body: Schema | 'bytes' | undefined
  /** The schema of each documented answer by its status; undefined if the document has none. */
  readonly answers: Readonly<Record<string, Schema | undefined>> | undefined
}

/** A request before its live values are filled in. */
export interface FuzzRequest {
  readonly method: string
  readonly target: string
  readonly headers: readonly (readonly [string, string])[]
  readonly body: string
  /** The account that sends it. Undefined: nobody. */
  readonly account: number | undefined
  /**
   * `whole`: it is HTTP, and the relay must answer it; if `documented`, only as its document says. `broken`:
   * it is to be broken before it is sent.
   */
  readonly kind: 'documented' | 'whole' | 'broken'
}

/** How many accounts send requests. */
export const ACCOUNTS = 8

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']
const SEGMENTS = [
  '',
  '.',
  '..',
  '%2e%2e',
  '%00',
  '%ff',
  '%',
  '%2f',
  ';a=b',
  "'",
  '[',
  '{id}',
  'ws',
  '-1',
  '0',
]

/** They end what other requests need, so they come more rarely. */
const ENDINGS = new Set(['delete /api/v1/me', 'post /api/v1/auth/logout', 'post /api/v1/auth/logout-all'])

/** Makes the requests of one relay. */
export class Requests {
  readonly #operations: readonly Operation[]
  readonly #values = new Map<Schema, fc.Arbitrary<unknown>>()

  constructor(operations: readonly Operation[]) {
    this.#operations = operations
  }

  make(draws: Draws): { operation: Operation; request: FuzzRequest } {
    let operation = draws.pick(this.#operations)
    if (ENDINGS.has(`${operation.method} ${operation.path}`) && draws.chance(0.8))
      operation = draws.pick(this.#operations)
    const valid = this.#valid(operation, draws)
    const dice = draws.next()
    if (dice < 0.4) return { operation, request: valid }
    if (dice < 0.6) return { operation, request: this.#withOneWrong(operation, valid, draws) }
    if (dice < 0.72) return { operation, request: { ...valid, body: otherBody(valid.body, draws) } }
    if (dice < 0.9) return { operation, request: withOddHead(valid, draws) }
    return { operation, request: { ...valid, kind: 'broken' } }
  }

  #valid({ method, path, parameters, body, answers }: Operation, draws: Draws): FuzzRequest {
    const account = draws.chance(0.92) ? draws.whole(0, ACCOUNTS - 1) : undefined
    let target = path
    const query: string[] = []
    for (const { name, in: where, required, schema } of parameters) {
      const value = asTarget(`${this.#draw(schema, name, path, draws)}`)
      if (where === 'path') target = target.replace(`{${name}}`, value)
      else if (required || draws.chance(0.6)) query.push(`${name}=${value}`)
    }
    const token =
      account === undefined ? [] : [['authorization', `Bearer ${live('token', account)}`] as const]
    return {
      method: method.toUpperCase(),
      target: query.length === 0 ? target : `${target}?${query.join('&')}`,
      headers: token,
      body:
        body === undefined
          ? ''
          : body === 'bytes'
            ? 'x'.repeat(draws.whole(0, 3000))
            : JSON.stringify(this.#draw(body, '', path, draws)),
      account,
      kind: answers === undefined ? 'whole' : 'documented',
    }
  }

  // One field of the body, or one value in the path or the query, is something else.
  #withOneWrong({ body, path }: Operation, valid: FuzzRequest, draws: Draws): FuzzRequest {
    const wrong = draws.of(anyValue)
    if (typeof body === 'object') {
      const changed = Object(this.#draw(body, '', path, draws))
      const fields = Object.keys(body.properties ?? {})
      const field = draws.pick([...fields, 'unknown', '__proto__'])
      const text = JSON.stringify(changed)
      if (draws.chance(0.15))
        // The same name twice.
        return {
          ...valid,
          body: `${text.slice(0, -1)}${text === '{}' ? '' : ','}${JSON.stringify(field)}:${JSON.stringify(wrong) ?? 0}}`,
        }
      if (draws.chance(0.15)) delete changed[field]
      else Object.defineProperty(changed, field, { value: wrong, enumerable: true })
      return { ...valid, body: JSON.stringify(changed) }
    }
    const parts = valid.target.split(/(?<=[/=&?])/)
    const at = draws.whole(Math.min(3, parts.length - 1), parts.length - 1)
    const value = asTarget(`${typeof wrong === 'object' ? JSON.stringify(wrong) : wrong}`.slice(0, 4000))
    const target = parts.with(at, value + (/[/=&?]$/.exec(parts[at] ?? '')?.[0] ?? '')).join('')
    // A path of another form is another path, which may belong to no operation.
    return { ...valid, target, kind: 'whole' }
  }

  #draw(schema: Schema, name: string, path: string, draws: Draws): unknown {
    const known = this.#values.get(schema) ?? valuesOf(schema, name, path)
    this.#values.set(schema, known)
    return draws.of(known)
  }
}

/** A text as a part of a request's target. Names of live values stay as they are. */
function asTarget(text: string): string {
  if (text.startsWith('⟨')) return text
  return encodeURIComponent(text.toWellFormed())
}

function otherBody(body: string, draws: Draws): string {
  const dice = draws.next()
  if (dice < 0.5) return mutated(body === '' ? '{}' : body, draws)
  if (dice < 0.7) return draws.of(fc.json())
  if (dice < 0.85) return draws.of(heavyJson)
  return draws.of(anyText)
}

// Methods, paths, queries and headers that no client sends.
function withOddHead(valid: FuzzRequest, draws: Draws): FuzzRequest {
  const { target, headers } = valid
  const header = (name: string, ...values: string[]): FuzzRequest => ({
    ...valid,
    headers: [...headers, ...values.map((value) => [name, value] as const)],
    kind: 'whole',
  })
  const printable = draws.of(fc.string({ maxLength: 40 }))
  switch (draws.whole(0, 11)) {
    case 0:
      return { ...valid, method: draws.pick(METHODS), kind: 'whole' }
    case 1: {
      const segments = target.split('/')
      const at = draws.whole(1, segments.length)
      return {
        ...valid,
        target: segments.toSpliced(at, draws.whole(0, 1), draws.pick(SEGMENTS)).join('/') || '/',
        kind: 'whole',
      }
    }
    case 2:
      return {
        ...valid,
        target: `${target}${target.includes('?') ? '&' : '?'}${encodeURI(printable)}`,
        kind: 'whole',
      }
    case 3:
      return {
        ...valid,
        target: target + draws.pick(['?', '#', '//', '?%', '?a=%zz', '?a[]=1&a=2', '%0d%0a']),
        kind: 'whole',
      }
    case 4:
      return header(
        'content-type',
        draws.pick(['', 'text/plain', 'multipart/form-data', 'application/json; charset=utf-16', printable]),
      )
    case 5:
      return header(
        'authorization',
        draws.pick(['', 'Basic YTpi', 'Bearer', 'Bearer a.b.c', `Bearer ${live('token', 0)}, x`, printable]),
      )
    case 6:
      return header(
        'host',
        draws.pick(['', 'a b', '[::1]', 'x'.repeat(300), 'evil.example:99999', printable]),
      )
    case 7:
      return header('x-forwarded-for', draws.pick(['', ',,,', '::ffff:1.2.3.4', printable]), printable)
    case 8:
      return header(
        'range',
        draws.pick([
          'bytes=0-',
          'bytes=-0',
          'bytes=9-1',
          'bytes=0-0,2-2',
          `bytes=${'9'.repeat(40)}-`,
          printable,
        ]),
      )
    case 9:
      return header('if-none-match', draws.pick(['*', '"', 'W/"x"', live('etag', 1), printable]))
    case 10:
      return header(
        draws.pick(['content-encoding', 'expect', 'upgrade', 'te', 'x'.repeat(500)]),
        draws.pick(['gzip', 'websocket', 'h2c', printable]),
      )
    default: {
      const query = `?user_uuid=${live('uuid', draws.whole(0, 7))}&ticket=${live('ticket', draws.whole(0, 9))}`
      const upgrade = Object.entries(UPGRADE).filter(() => draws.chance(0.9))
      return {
        ...valid,
        method: 'GET',
        target: `/ws${draws.chance(0.8) ? query : ''}`,
        headers: upgrade,
        body: '',
        kind: 'whole',
      }
    }
  }
}

/** The text of a request as HTTP, with its live values. */
export function textOf(
  { method, target, headers, body }: FuzzRequest,
  fill: (text: string) => string,
): string {
  const filled = fill(body)
  const own = new Set(headers.map(([name]) => name))
  const lines = [
    ...(own.has('host') ? [] : [['host', '127.0.0.1'] as const]),
    ...(body === '' ? [] : [['content-length', `${Buffer.byteLength(filled)}`] as const]),
    ...headers,
  ]
  const head = lines.map(([name, value]) => `${name}: ${clean(fill(value))}\r\n`).join('')
  return `${method} ${clean(fill(target))} HTTP/1.1\r\n${head}\r\n${filled}`
}

// A line break would end the line, and the request would be another one.
function clean(text: string): string {
  return text.replaceAll(/[\r\n]/g, ' ')
}
