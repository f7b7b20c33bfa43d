// The file of a file store, as text: a header, then changes, each line with its checksum.
import { createHash } from 'node:crypto'
import { check } from '@sotto/protocol'
import * as v from 'valibot'
import { ClientError } from '../client-error.ts'
import { newerSchema, SCHEMA_VERSION, stepsAfter } from './migrations.ts'
import { StoreChange } from './records.ts'

const FORMAT = 'sotto-client-store'
const CHECKSUM_CHARACTERS = 16
const CHANGES_PER_LINE = 200

const Line = v.array(v.unknown())
const Header = v.object({
  format: v.literal(FORMAT),
  version: v.pipe(v.number(), v.integer(), v.minValue(1)),
})

/** What a file holds. */
export interface DecodedFile {
  readonly changes: readonly StoreChange[]
  /** The version it was written as; 0 where there is no header. */
  readonly version: number
  /** Where the last good line ends. */
  readonly goodBytes: number
  /** Whether a bad line comes before a good one. */
  readonly damaged: boolean
}

/** The first line of a file. */
export function encodeHeader(): string {
  return encodeLine({ format: FORMAT, version: SCHEMA_VERSION })
}

/** The line of one write: torn, it does not check, and the write was not. */
export function encodeWrite(changes: readonly StoreChange[]): string {
  return changes.length === 0 ? '' : encodeLine(changes)
}

/** A whole file of these changes. */
export function encodeFile(changes: Iterable<StoreChange>): string {
  const lines = [encodeHeader()]
  let group: StoreChange[] = []
  for (const change of changes) {
    if (group.push(change) < CHANGES_PER_LINE) continue
    lines.push(encodeWrite(group))
    group = []
  }
  lines.push(encodeWrite(group))
  return lines.join('')
}

/**
 * The changes of a file, as the present version has them.
 * @throws ClientError `STORE_FAILED` for a file of a newer version, or of something else.
 */
export function decodeFile(content: Buffer): DecodedFile {
  const values: unknown[] = []
  let version = 0
  let goodBytes = 0
  let badLines = 0
  let damaged = false
  let start = 0
  for (let end = content.indexOf(10); end !== -1; end = content.indexOf(10, start)) {
    const json = checkedJson(content.toString('utf8', start, end))
    start = end + 1
    if (json === undefined) {
      badLines += 1
      continue
    }
    if (badLines > 0) damaged = true
    const isFirst = goodBytes === 0 && !damaged
    goodBytes = start
    const value: unknown = JSON.parse(json)
    if (isFirst) version = versionOf(value)
    else values.push(...check(Line, value))
  }
  return {
    // Without its header a file says nothing of its version; as the present one it is checked like any other.
    changes: values.map((value) => upToDate(value, version === 0 ? SCHEMA_VERSION : version)),
    version,
    goodBytes: damaged ? content.length : goodBytes,
    damaged,
  }
}

function upToDate(value: unknown, version: number): StoreChange {
  return check(
    StoreChange,
    stepsAfter(version).reduce((change, step) => step.change(change), value),
  )
}

function versionOf(header: unknown): number {
  if (!v.is(Header, header))
    throw new ClientError('STORE_FAILED', 'the folder holds no store of this program')
  if (header.version > SCHEMA_VERSION) throw newerSchema(header.version)
  return header.version
}

function encodeLine(value: unknown): string {
  const json = JSON.stringify(value)
  return `${checksum(json)} ${json}\n`
}

function checkedJson(line: string): string | undefined {
  const json = line.slice(CHECKSUM_CHARACTERS + 1)
  return line[CHECKSUM_CHARACTERS] === ' ' && line.slice(0, CHECKSUM_CHARACTERS) === checksum(json)
    ? json
    : undefined
}

function checksum(json: string): string {
  return createHash('sha256').update(json).digest('hex').slice(0, CHECKSUM_CHARACTERS)
}
