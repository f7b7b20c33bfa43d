// Tables as CSV (RFC 4180), for spreadsheets and accounting programs.
import { sanitizeText } from './sanitize.ts'

/** Rows with the same fields as lines, after a line that names the columns. */
export class Csv<Column extends string> {
  readonly #columns: readonly Column[]

  constructor(columns: readonly Column[]) {
    this.#columns = columns
  }

  /** The first line. */
  get titles(): string {
    return lineOf(this.#columns)
  }

  /** The line of a row. */
  line(row: Readonly<Record<Column, string | null>>): string {
    return lineOf(this.#columns.map((column) => row[column] ?? ''))
  }
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
