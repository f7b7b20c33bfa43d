// The text format of a file store's file: a header line, then lines of changes. Each line has a checksum.
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

/** The decoded content of a file. */
export interface DecodedFile {
  readonly changes: readonly StoreChange[]
  /** The version in its header; 0 without a header. */
  readonly version: number
  /** The offset at which the last good line ends. */
  readonly goodBytes: number
  /** Whether a whole line is bad. */
  readonly damaged: boolean
}

export function encodeHeader(): string {
  return encodeLine({ format: FORMAT, version: SCHEMA_VERSION })
}

/** The line of one write. If a crash cuts it short, its checksum fails and the whole write is dropped. */
export function encodeWrite(changes: readonly StoreChange[]): string {
  return changes.length === 0 ? '' : encodeLine(changes)
}

/** A whole file with these changes. */
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
 * Decodes a file and converts its changes to the current version.
 * @throws ClientError `STORE_FAILED` for a file of a newer version, or of another program.
 */
export function decodeFile(content: Buffer): DecodedFile {
  const values: unknown[] = []
  let version = 0
  let goodBytes = 0
  // An interrupted write has no end of line, so a bad line with one was damaged later.
  let damaged = false
  let start = 0
  for (let end = content.indexOf(10); end !== -1; end = content.indexOf(10, start)) {
    const json = checkedJson(content.toString('utf8', start, end))
    start = end + 1
    if (json === undefined) {
      damaged = true
      continue
    }
    const isFirst = goodBytes === 0 && !damaged
    goodBytes = start
    const value: unknown = JSON.parse(json)
    if (isFirst) version = versionOf(value)
    else values.push(...check(Line, value))
  }
  return {
    // A file without a header does not tell its version. It is decoded, and checked, as the current version.
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
  if (!v.is(Header, header)) throw new ClientError('STORE_FAILED', 'the folder holds no store of this client')
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
