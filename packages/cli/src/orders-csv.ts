// The operator's accounts as CSV (RFC 4180), for spreadsheets and accounting programs.
import type { AccountEntry } from '@sotto/relay'
import { sanitizeText } from './sanitize.ts'

const COLUMNS = [
  'at',
  'entry',
  'order_id',
  'kind',
  'ref_id',
  'account',
  'provider',
  'asset',
  'amount',
  'smallest_units',
  'outcome',
  'refund_units',
  'reason',
  'reference',
] as const satisfies readonly (keyof AccountEntry)[]

/** The first line, which names the columns. */
export const CSV_TITLES = lineOf(COLUMNS)

/** The line of an entry, with its end. */
export function csvLineOf(entry: AccountEntry): string {
  return lineOf(COLUMNS.map((column) => entry[column] ?? ''))
}

function lineOf(fields: readonly string[]): string {
  return `${fields.map(fieldOf).join(',')}\r\n`
}

// Other people choose parts of these texts. A spreadsheet runs a field that begins like a formula, also after
// the quotation mark; an apostrophe before it makes it text.
function fieldOf(text: string): string {
  const line = sanitizeText(text).replaceAll('\n', ' ')
  const safe = /^[=+\-@]/.test(line) ? `'${line}` : line
  return /[",]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
