// Errors as problem documents (RFC 9457), or as text where a page was asked for. Nothing internal and nothing random is ever in one.
import { type ErrorDetails, errorMeanings, type ProblemDocument, ProtocolError } from '@sotto/protocol'
import type { Log } from '../operations/log.ts'

/** The answer to a request that failed. Anything but a ProtocolError is a bug: logged, and answered `INTERNAL`. */
export function problemResponse(error: unknown, log: Log, endpoint: string): Response {
  const refusal = refusalOf(error, log, endpoint)
  return toResponse(refusal, 'application/problem+json', JSON.stringify(documentOf(refusal)))
}

/** The same for whoever asked for a page: what it means, as plain text. */
export function plainResponse(error: unknown, log: Log, endpoint: string): Response {
  const refusal = refusalOf(error, log, endpoint)
  const means = errorMeanings[refusal.code].replaceAll('`', '')
  return toResponse(refusal, 'text/plain; charset=utf-8', `${means}\n`)
}

function refusalOf(error: unknown, log: Log, endpoint: string): ProtocolError {
  if (error instanceof ProtocolError) return error
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
  // A published client takes any text with 409 in it for a recovery, so no other answer may hold those digits.
  return status !== 409 && JSON.stringify(full).includes('409') ? document : full
}

function specificsOf({ field, rule, limit, account }: ErrorDetails): Partial<ProblemDocument> {
  return {
    ...(field === undefined ? {} : { field, detail: `${field} ${rule ?? 'is not valid'}` }),
    ...(limit === undefined ? {} : { limit }),
    ...(account ?? {}),
  }
}
