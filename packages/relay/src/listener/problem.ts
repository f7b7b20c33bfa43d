// Turns errors into problem documents (RFC 9457), or into plain text for pages. They never contain internal
// details or random values.
import { type ErrorDetails, errorMeanings, type ProblemDocument, ProtocolError } from '@sotto/protocol'
import { requestRefused } from '../operations/disk-space.ts'
import type { Log } from '../operations/log.ts'
import { isDiskFull } from '../storage/storage.ts'

/**
 * The answer to a failed request. Any error except a ProtocolError is a bug: it is logged and answered with
 * `INTERNAL`.
 */
export function problemResponse(error: unknown, log: Log, endpoint: string): Response {
  const refusal = refusalOf(error, log, endpoint)
  return toResponse(refusal, 'application/problem+json', JSON.stringify(documentOf(refusal)))
}

/** The same for a failed request of a page: the meaning of the error, as plain text. */
export function plainResponse(error: unknown, log: Log, endpoint: string): Response {
  const refusal = refusalOf(error, log, endpoint)
  const means = errorMeanings[refusal.code].replaceAll('`', '')
  return toResponse(refusal, 'text/plain; charset=utf-8', `${means}\n`)
}

/** The error that the client gets. One that is no ProtocolError is logged. */
export function refusalOf(error: unknown, log: Log, endpoint: string): ProtocolError {
  if (error instanceof ProtocolError) return error
  if (isDiskFull(error)) return requestRefused() // The log says it once, not with every request.
  log.error('request_failed', { error, endpoint })
  return new ProtocolError('INTERNAL')
}

function toResponse(error: ProtocolError, type: string, body: string): Response {
  const { retryAfterMs, allow, totalBytes } = error.details
  const headers = new Headers({ 'content-type': type, 'cache-control': 'no-store' })
  if (retryAfterMs !== undefined)
    headers.set('retry-after', Math.max(1, Math.ceil(retryAfterMs / 1000)).toString())
  if (error.status === 401) headers.set('www-authenticate', 'Bearer')
  if (error.status === 405 && allow) headers.set('allow', allow.join(', '))
  if (error.status === 416 && totalBytes !== undefined) headers.set('content-range', `bytes */${totalBytes}`)
  if (error.status === 426) headers.set('upgrade', 'websocket')
  return new Response(body, { status: error.status, headers })
}

function documentOf(error: ProtocolError): ProblemDocument {
  const { code, status, details } = error
  const document = { type: `urn:sotto:error:${code}`, title: errorMeanings[code], status, error: code }
  const full = { ...document, ...specificsOf(details) }
  // A published client treats any error text that contains "409" as a recovery, so other answers must not
  // contain it.
  return status !== 409 && JSON.stringify(full).includes('409') ? document : full
}

function specificsOf({ field, rule, words, limit, account }: ErrorDetails): Partial<ProblemDocument> {
  return {
    ...(field === undefined ? {} : { field, detail: `${field} ${rule ?? 'is not valid'}` }),
    ...(words === undefined ? {} : { detail: words }),
    ...(limit === undefined ? {} : { limit }),
    ...(account ?? {}),
  }
}
