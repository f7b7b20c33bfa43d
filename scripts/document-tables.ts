// Makes the tables of the documents from the code. With --write it writes them into the documents, between
// their marks. A test checks that the documents have the current tables.
import { join } from 'node:path'
import {
  API_BASE,
  clientFrames,
  closeCodes,
  closeMeanings,
  type Endpoint,
  endpointSummaries,
  endpoints,
  errorMeanings,
  errors,
  limits,
  rates,
  relayFrames,
} from '@sotto/protocol'
import { settings } from '@sotto/relay'
import { transitions } from '../packages/client/test/version-3/transitions/transitions.ts'
import { seenByVersion } from './seen-by-version.ts'
import { storedData } from './stored-data.ts'

const DOCS = join(import.meta.dir, '..', 'docs')

/** The documents that contain tables made from the code. */
export const documentsWithTables = [
  'protocol.md',
  'operations/settings.md',
  'threat-model.md',
  'decisions/0062-the-course-of-a-conversation.md',
].map((name) => join(DOCS, name))

const summaries: Readonly<Record<string, string>> = endpointSummaries
const meanings: Readonly<Record<string, string>> = { ...errorMeanings, ...closeMeanings }

/** A body that is not JSON. */
const BYTES = 'bytes'

const tables: Readonly<Record<string, () => string>> = {
  endpoints: () =>
    table(
      ['method, path', 'login', 'body → reply', 'what it is', 'own errors', 'rate'],
      Object.entries<Endpoint>(endpoints).map(([name, endpoint]) => [
        `${[endpoint.method, endpoint.alsoMethod].filter(Boolean).join(' or ')} \`${API_BASE}${endpoint.path}\``,
        endpoint.auth === 'account' ? 'yes' : 'no',
        `${inputOf(endpoint)} → ${endpoint.status} ${outputOf(endpoint)}`,
        summaries[name] ?? '',
        [...endpoint.errors, ...(endpoint.adds ? ['RELAY_FULL'] : [])]
          .map((code) => `\`${code}\``)
          .join(', '),
        `\`${endpoint.rate}\``,
      ]),
    ),
  errors: () =>
    table(
      ['code', 'status', 'try again', 'meaning'],
      Object.entries(errors).map(([code, { status, retry }]) => [
        `\`${code}\``,
        `${status}`,
        retry,
        meanings[code] ?? '',
      ]),
    ),
  'client-frames': () => table(['frame', 'fields'], framesOf(clientFrames)),
  'relay-frames': () => table(['frame', 'fields'], framesOf(relayFrames)),
  'close-codes': () =>
    table(
      ['code', 'meaning'],
      Object.entries(closeCodes).map(([reason, code]) => [`${code}`, meanings[reason] ?? '']),
    ),
  limits: () =>
    table(
      ['limit', 'default', 'from – to', 'setting'],
      Object.values(limits).map((limit) => [
        limit.means,
        number(limit.default),
        `${number(limit.min)} – ${number(limit.max)}`,
        `\`${limit.setting}\``,
      ]),
    ),
  rates: () =>
    table(
      ['rate', 'what it counts', 'default', 'by', 'setting'],
      Object.entries(rates).map(([name, rate]) => [
        `\`${name}\``,
        rate.means,
        `${number(rate.burst)} in ${number(rate.perSeconds)} s`,
        rate.by,
        `\`${rate.setting}\``,
      ]),
    ),
  settings: () =>
    table(
      ['setting', 'default', 'meaning'],
      Object.entries(settings).map(([name, setting]) => [
        `\`${name}\``,
        setting.default === '' ? '–' : `\`${setting.default}\``,
        setting.means,
      ]),
    ),
  'seen-by-version': () =>
    table(
      ['what', 'columns', '1', '2', '3'],
      seenByVersion.map(({ what, columns, versions }) => [
        what,
        columns.map((column) => `\`${column}\``).join(', '),
        ...([1, 2, 3] as const).map((version) => (versions.includes(version) ? 'yes' : 'no')),
      ]),
    ),
  'stored-data': () => table(['data', 'kept'], storedData),
  'course-transitions': () =>
    table(
      ['situation', 'event', 'what follows'],
      transitions.map(({ situation, event, follows }) => [situation, event, follows]),
    ),
}

/**
 * The text of a document with the current tables between its marks. @throws if a mark names an unknown table
 */
export function withTables(text: string): string {
  return text.replaceAll(
    /<!-- table: (?<name>[\w-]+) -->\n[\s\S]*?<!-- \/table -->/g,
    (_whole, name: string) => {
      const make = tables[name]
      if (!make) throw new Error(`no table is called ${name}`)
      return `<!-- table: ${name} -->\n${make()}\n<!-- /table -->`
    },
  )
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

function framesOf(frames: Readonly<Record<string, unknown>>): string[][] {
  return Object.entries(frames).map(([type, schema]) => [`\`${type}\``, fieldsOf(schema, ['type']) || '–'])
}

// The field names of the query and the body. A `?` in front marks the query, a `?` after a name marks an
// optional field, and [] encloses the fields of a list's items.
function inputOf({ query, body, rawBody }: Endpoint): string {
  const inBody = rawBody ? BYTES : fieldsOf(body)
  if (!query) return inBody
  return rawBody ? `?${fieldsOf(query)}, ${inBody}` : `?${fieldsOf(query)}`
}

function outputOf({ reply, rawReply }: Endpoint): string {
  if (rawReply) return BYTES
  return reply ? fieldsOf(reply) : '`{}`'
}

function fieldsOf(schema: unknown, without: readonly string[] = []): string {
  if (!isRecord(schema)) return schema === undefined ? '–' : ''
  if (schema.type === 'array') return `[${fieldsOf(schema.item)}]`
  if (!isRecord(schema.entries)) return ''
  return Object.entries(schema.entries)
    .filter(([name]) => !without.includes(name))
    .map(
      ([name, field]) =>
        `\`${name}\`${isRecord(field) && String(field.type).endsWith('optional') ? '?' : ''}`,
    )
    .join(', ')
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function number(value: number): string {
  return value.toLocaleString('en-US')
}

if (import.meta.main && process.argv.includes('--write')) {
  for (const file of documentsWithTables) await Bun.write(file, withTables(await Bun.file(file).text()))
}
