// JSON whose numbers stay the text they were sent as: 12.3400001 is an amount of money, and a double would change it.
import * as v from 'valibot'
import { type Decimal, decimalOf } from './webhook-decimal.ts'

/** A number, as its text. */
export class JsonNumber {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

const DEEPEST = 16

/** Undefined where it is not JSON, or nested more than 16 deep. */
export function parseJson(text: string): unknown {
  try {
    // The engine hands over each number's source text (ECMAScript, "JSON.parse source text access").
    const value: unknown = JSON.parse(text, (_key, value: unknown, context?: { source?: string }) =>
      typeof value === 'number' ? new JsonNumber(context?.source ?? '') : value,
    )
    return depthOf(value) > DEEPEST ? undefined : value
  } catch {
    return undefined
  }
}

/** JSON without spaces whose objects have their keys in order, at every depth. @param write how a number is written */
export function sortedJson(value: unknown, write: (number: string) => string = (number) => number): string {
  if (value instanceof JsonNumber) return write(value.text)
  if (Array.isArray(value)) return `[${value.map((member) => sortedJson(member, write)).join()}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${sortedJson(member, write)}`).join()}}`
}

/** Text, or a number as its text: processors write ids and amounts either way. */
export const Written = v.pipe(
  v.union([v.string(), v.instance(JsonNumber)]),
  v.transform((written) => (typeof written === 'string' ? written : written.text)),
)

/** A decimal number, however it is written. */
export const Amount = v.pipe(
  Written,
  v.rawTransform<string, Decimal>(({ dataset, addIssue, NEVER }) => {
    const decimal = decimalOf(dataset.value)
    if (decimal) return decimal
    addIssue({ message: 'must be a decimal number' })
    return NEVER
  }),
)

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null || value instanceof JsonNumber) return 0
  return 1 + Math.max(0, ...Object.values(value).map(depthOf))
}
