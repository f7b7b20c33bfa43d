// The fields of a call signal: JSON of the sender, read with care by the receiver.
import { CryptoError } from './crypto-error.ts'

const MAX_DEPTH = 32
const TYPES = ['call_offer', 'call_answer', 'call_reject', 'call_ice', 'call_hangup'] as const
const RESERVED = new Set(['type', 'call_id', 'from', '_ts', '_nonce', '_sig'])

/** The frames of a call. */
export type CallSignalType = (typeof TYPES)[number]

/** The signal's own fields, such as `sdp`. */
export type CallSignalFields = Readonly<Record<string, unknown>>

/**
 * The fields as the receiver will parse them, without values that JSON omits. So both sides sign and check
 * the same keys.
 */
export function plainJson(fields: CallSignalFields): CallSignalFields {
  let plain: CallSignalFields | undefined
  try {
    plain = parseFields(JSON.stringify(fields))
  } catch {
    // A cycle or a bigint: the error below says so, without the engine's message.
  }
  if (plain === undefined || Object.keys(plain).some((key) => RESERVED.has(key))) {
    throw new CryptoError('INVALID_ARGUMENT', 'fields must be JSON and use no reserved name')
  }
  return plain
}

/** The JSON object of a text; undefined if it is none, or is nested deeper than 32 levels. */
export function parseFields(text: string): CallSignalFields | undefined {
  try {
    const value: unknown = JSON.parse(text)
    // Serializing deep nesting takes quadratic time: a friend could freeze a phone with one 64 KiB signal.
    return isObject(value) && isShallow(value, MAX_DEPTH) ? value : undefined
  } catch {
    return undefined
  }
}

/** The fields without those that every signal has. */
export function ownFields(fields: CallSignalFields): CallSignalFields {
  return Object.fromEntries(Object.entries(fields).filter(([key]) => !RESERVED.has(key)))
}

export function isCallSignalType(type: unknown): type is CallSignalType {
  return TYPES.some((known) => known === type)
}

function isObject(value: unknown): value is CallSignalFields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isShallow(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  return depth > 0 && Object.values(value).every((member) => isShallow(member, depth - 1))
}
