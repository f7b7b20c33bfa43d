// Expectations for HTTP answers: every refusal has the same form.
import { expect } from 'bun:test'
import { errors, isErrorCode } from '@sotto/protocol'
import type { Answer } from './wire.ts'

/** Expects the problem document (RFC 9457) of an error, with these fields and no others. */
export function expectProblem(
  answer: Answer,
  status: number,
  error: string,
  more: Record<string, unknown> = {},
): void {
  expect(answer.body).toEqual({
    type: `urn:sotto:error:${error}`,
    title: expect.any(String),
    status,
    error,
    ...more,
  })
  expect(answer.status).toBe(status)
  expect(answer.headers.get('content-type')).toBe('application/problem+json')
  if (isErrorCode(error) && errors[error].retry === 'after')
    expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
  // Published clients treat any text with these digits as the answer to a recovery.
  if (status !== 409) expect(answer.text).not.toContain('409')
}

/** Expects an answer in JSON, as clients parse every answer. */
export function expectJson({ status, headers, text, body }: Answer): void {
  const type = headers.get('content-type')?.replace(/; ?charset=utf-8$/, '')
  expect([status, type]).toEqual([status, status < 400 ? 'application/json' : 'application/problem+json'])
  expect([text, typeof body]).toEqual([text, 'object'])
}

/** Expects an answer that names an invalid field and its rule. */
export function expectInvalidField(answer: Answer, field: string, rule: string | RegExp = /./): void {
  expectProblem(answer, 400, 'INVALID_FIELD', { field, detail: expect.any(String) })
  const detail: string = answer.body.detail
  expect(detail.startsWith(`${field} `)).toBe(true)
  expect(detail.slice(field.length + 1)).toMatch(rule)
}

/** Expects exactly this set of fields. */
export function expectFields(value: unknown, fields: readonly string[]): void {
  expect(Object.keys(Object(value)).toSorted()).toEqual(fields.toSorted())
}

/** The formats of docs/protocol.md, "Encodings". */
export const FORMS = {
  uuid: /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
  assignedAlias: /^u[0-9]{8}$/,
  timestamp: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
  jwt: /^[\w-]+\.[\w-]+\.[\w-]+$/,
}
