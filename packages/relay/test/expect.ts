// What every refusal on the wire has to look like, whichever it is.
import { expect } from 'bun:test'
import type { Answer } from './wire.ts'

/** Holds an answer to being the problem document (RFC 9457) of an error: these fields and no others. */
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
  // Published clients take any text with these digits in it for a recovery.
  if (status !== 409) expect(answer.text).not.toContain('409')
}

/** Holds an answer to naming a field and what is wrong with it. */
export function expectInvalidField(answer: Answer, field: string, rule: string | RegExp = /./): void {
  expectProblem(answer, 400, 'INVALID_FIELD', { field, detail: expect.any(String) })
  const detail: string = answer.body.detail
  expect(detail.startsWith(`${field} `)).toBe(true)
  expect(detail.slice(field.length + 1)).toMatch(rule)
}

/** Holds a reply to an exact set of fields, no more and no fewer. */
export function expectFields(value: unknown, fields: readonly string[]): void {
  expect(Object.keys(Object(value)).toSorted()).toEqual(fields.toSorted())
}

/** The forms of docs/protocol.md, "Encodings". */
export const FORMS = {
  uuid: /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
  assignedAlias: /^u[0-9]{8}$/,
  timestamp: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
  jwt: /^[\w-]+\.[\w-]+\.[\w-]+$/,
}
