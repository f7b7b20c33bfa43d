// Problem documents: every error code, its details, and nothing internal.
import { describe, expect, test } from 'bun:test'
import { errorMeanings, errors, isErrorCode, ProtocolError } from '@sotto/protocol'
import type { Log, LogFields } from '../operations/log.ts'
import { plainResponse, problemResponse } from './problem.ts'

function logInto(lines: [string, LogFields | undefined][]): Log {
  const add = (event: string, fields?: LogFields) => void lines.push([event, fields])
  return { error: add, warn: add, info: add, debug: add }
}

const silent = logInto([])
const codes = Object.keys(errors).filter(isErrorCode)

test.each(codes)('%s is answered with its status, its meaning and its code', async (code) => {
  const response = problemResponse(new ProtocolError(code), silent, 'getMe')
  expect(response.status).toBe(errors[code].status)
  expect(response.headers.get('content-type')).toBe('application/problem+json')
  expect(response.headers.get('cache-control')).toBe('no-store')
  expect(response.headers.get('www-authenticate')).toBe(errors[code].status === 401 ? 'Bearer' : null)
  const text = await response.text()
  expect(JSON.parse(text)).toEqual({
    type: `urn:sotto:error:${code}`,
    title: errorMeanings[code],
    status: errors[code].status,
    error: code,
  })
  // Published clients treat any error text with these digits as a recovery.
  expect(text.includes('409')).toBe(errors[code].status === 409)
})

describe('details', () => {
  test('name the field and its rule, the rate and when to try again, or the account that exists', async () => {
    const field = problemResponse(
      new ProtocolError('INVALID_FIELD', { field: 'a.b', rule: 'must be c' }),
      silent,
      'x',
    )
    expect(await field.json()).toMatchObject({ field: 'a.b', detail: 'a.b must be c' })
    const limited = problemResponse(
      new ProtocolError('RATE_LIMITED', { limit: 'pow', retryAfterMs: 1001 }),
      silent,
      'x',
    )
    expect(limited.headers.get('retry-after')).toBe('2')
    expect(await limited.json()).toMatchObject({ limit: 'pow' })
    const soon = problemResponse(new ProtocolError('RATE_LIMITED', { retryAfterMs: 0.2 }), silent, 'x')
    expect(soon.headers.get('retry-after')).toBe('1')
    const account = { uuid: 'u', alias_id: 'a' }
    const exists = problemResponse(new ProtocolError('ACCOUNT_EXISTS', { account }), silent, 'x')
    expect(await exists.json()).toMatchObject(account)
  })

  test('are left out if they would add the digits 409 to an answer with another status', async () => {
    const response = problemResponse(
      new ProtocolError('INVALID_FIELD', { field: 'items.409', rule: 'is missing' }),
      silent,
      'x',
    )
    expect(await response.text()).not.toContain('409')
    const exists = new ProtocolError('ACCOUNT_EXISTS', { account: { uuid: 'u409', alias_id: 'a' } })
    expect(await problemResponse(exists, silent, 'x').json()).toMatchObject({ uuid: 'u409' })
  })
})

test('any other error is a bug: it is logged with its cause and answered INTERNAL without it', async () => {
  const lines: [string, LogFields | undefined][] = []
  const bug = new TypeError('secret.password is undefined')
  const response = problemResponse(bug, logInto(lines), 'getMe')
  expect(response.status).toBe(500)
  expect(await response.text()).not.toContain('secret')
  expect(lines).toEqual([['request_failed', { error: bug, endpoint: 'getMe' }]])
})

describe('a failed request of a page', () => {
  test.each(codes)('gets the meaning of %s as plain text', async (code) => {
    const response = plainResponse(new ProtocolError(code, { retryAfterMs: 1500 }), silent, '/pay/:token')
    expect(response.status).toBe(errors[code].status)
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(response.headers.get('retry-after')).toBe('2')
    expect(await response.text()).toMatch(/^[A-Z][^`{]+\.\n$/)
  })

  test('gets no internal details', async () => {
    const lines: [string, LogFields | undefined][] = []
    const bug = new TypeError('secret.password is undefined')
    const response = plainResponse(bug, logInto(lines), '/pay/:token')
    expect(response.status).toBe(500)
    expect(await response.text()).not.toContain('secret')
    expect(lines).toEqual([['request_failed', { error: bug, endpoint: '/pay/:token' }]])
  })
})
