// Parses JSON and keeps numbers as the text they were sent as: 12.3400001 is an amount of money, and floating
// point would change it.
import * as v from 'valibot'
import { type Decimal, decimalOf } from './webhook-decimal.ts'

/** A JSON number, as its text. */
export class JsonNumber {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

const DEEPEST = 16

/**
 * Parses JSON; undefined if it is not JSON, nested more than 16 levels deep, or has more than
 * `mostStructural` of the characters `[`, `{`, `:` and `,` outside strings. They bound how many values there
 * are, and so the time to parse it.
 */
export function parseJson(text: string, mostStructural = Number.POSITIVE_INFINITY): unknown {
  if (isTooLarge(text, mostStructural)) return undefined
  try {
    // The engine passes each number's source text (ECMAScript, "JSON.parse source text access").
    return JSON.parse(text, (_key, value: unknown, context?: { source?: string }) =>
      typeof value === 'number' ? new JsonNumber(context?.source ?? '') : value,
    )
  } catch {
    return undefined
  }
}

/** Writes JSON without spaces, with sorted keys at every depth. @param write converts the text of a number */
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

/** A decimal number, sent as text or as a JSON number. */
export const Amount = v.pipe(
  Written,
  v.rawTransform<string, Decimal>(({ dataset, addIssue, NEVER }) => {
    const decimal = decimalOf(dataset.value)
    if (decimal) return decimal
    addIssue({ message: 'must be a decimal number' })
    return NEVER
  }),
)

// Checked before parsing, in one pass: the parser recurses as deep as the text is nested, and takes far
// longer for a value than this pass for a character.
function isTooLarge(text: string, mostStructural: number): boolean {
  let depth = 0
  let structural = 0
  let isInString = false
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (character === '"') isInString = !isInString
    else if (isInString && character === '\\') at += 1
    else if (isInString) continue
    else if (character === '[' || character === '{') {
      depth += 1
      structural += 1
    } else if (character === ']' || character === '}') depth -= 1
    else if (character === ',' || character === ':') structural += 1
    if (depth > DEEPEST || structural > mostStructural) return true
  }
  return false
}
