// Lists as parameters of a query on PostgreSQL. A list of any length is one parameter, so the text of the
// query is always the same, and it is prepared once. PostgreSQL reads an array faster than JSON.

/** A list of integers, some of which may be NULL, for `${…}::text::bigint[]`. */
export function integers(values: Iterable<number | null>): string {
  return `{${Array.from(values, (value) => value ?? 'NULL').join(',')}}`
}

/** A list of texts, for `${…}::text::text[]`. */
export function texts(values: Iterable<string>): string {
  return `{${Array.from(values, quoted).join(',')}}`
}

function quoted(text: string): string {
  return `"${/["\\]/.test(text) ? text.replaceAll(/["\\]/g, '\\$&') : text}"`
}
