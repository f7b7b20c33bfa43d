// Queries that are made of parts, so that SQL which occurs several times is written once.

/** A parameter of a query. Numbers must be safe integers; bytes are for the relay's own keys. */
export type SqlValue = string | number | null | Uint8Array

/** A piece of SQL with its parameters. */
export class SqlPart {
  readonly strings: readonly string[]
  readonly values: readonly SqlValue[]

  constructor(strings: readonly string[], values: readonly SqlValue[]) {
    this.strings = strings
    this.values = values
  }
}

type Given = SqlValue | SqlPart

/** A piece of SQL, which may contain others. */
export function part(strings: TemplateStringsArray, ...given: Given[]): SqlPart {
  const flat = [strings[0] ?? '']
  const values: SqlValue[] = []
  const append = (text: string): void => {
    flat.push((flat.pop() ?? '') + text)
  }
  for (const [i, each] of given.entries()) {
    const after = strings[i + 1] ?? ''
    if (each instanceof SqlPart) {
      append(each.strings[0] ?? '')
      flat.push(...each.strings.slice(1))
      values.push(...each.values)
      append(after)
    } else {
      flat.push(after)
      values.push(each)
    }
  }
  return new SqlPart(flat, values)
}

/**
 * A list of values in brackets, for `IN`. The last one is repeated until their number is a power of two, so
 * that there are few queries to prepare. @param values at least one
 */
export function list(values: readonly SqlValue[]): SqlPart {
  const last = values.at(-1)
  if (last === undefined) throw new Error('a list in SQL needs a value')
  const padded = [
    ...values,
    ...Array<SqlValue>(2 ** Math.ceil(Math.log2(values.length)) - values.length).fill(last),
  ]
  return new SqlPart(['(', ...Array<string>(padded.length - 1).fill(', '), ')'], padded)
}

/** The engines prepare a query once for each template object, so the same text gets the same object. */
const templates = new Map<string, TemplateStringsArray>()

/** A whole query made of parts, as the arguments of an `Sql`: ``sql<Row>(...query`SELECT …`)``. */
export function query(
  strings: TemplateStringsArray,
  ...given: Given[]
): [TemplateStringsArray, ...SqlValue[]] {
  const { strings: flat, values } = part(strings, ...given)
  const text = flat.join('\0')
  const template = templates.get(text) ?? templateOf(flat)
  templates.set(text, template)
  return [template, ...values]
}

function templateOf(strings: readonly string[]): TemplateStringsArray {
  const template = [...strings]
  // Bun takes only an array with a hidden `raw`, which no parsed text has.
  Object.defineProperty(template, 'raw', { value: strings })
  return template as typeof template & { readonly raw: readonly string[] }
}
