// Checks unknown values against a schema. Returns the value, or an error that names the field and the rule.
import * as v from 'valibot'
import { ProtocolError } from './errors.ts'

/** The field and the rule of one schema issue. Never quotes the value. */
export function describeIssue(issue: v.BaseIssue<unknown>): { field: string; rule: string } {
  const field = v.getDotPath(issue) ?? 'body'
  return { field, rule: ruleOf(issue) }
}

/**
 * Returns the value as the schema outputs it, without unknown fields.
 * @throws ProtocolError `INVALID_FIELD`, naming the first field that breaks its rule.
 */
export function check<const S extends v.GenericSchema>(schema: S, value: unknown): v.InferOutput<S> {
  const result = v.safeParse(schema, value, { abortEarly: true, abortPipeEarly: true })
  if (result.success) return result.output
  throw new ProtocolError('INVALID_FIELD', describeIssue(result.issues[0]))
}

// Valibot's messages quote the received value. Ours only say what is allowed.
function ruleOf(issue: v.BaseIssue<unknown>): string {
  if (issue.input === undefined && issue.kind === 'schema') return 'is missing'
  if (!issue.message.startsWith('Invalid')) return issue.message
  return issue.expected ? `must be ${issue.expected.replaceAll('"', '')}` : 'is not valid'
}
