// Decodes text to frames and encodes frames to text. Decoding never throws; it returns the fault as a value.
import * as v from 'valibot'
import { describeIssue } from '../check.ts'
import type { ErrorCode } from '../errors.ts'
import { type ClientFrame, clientFrames, isClientFrameType } from './client-frames.ts'
import { isRelayFrameType, type RelayFrame, relayFrames } from './relay-frames.ts'

/**
 * Why a frame could not be decoded. `id`, `conv_id` and `call_id` come from a client's frame, if they are
 * text.
 */
export interface FrameFault {
  readonly code: Extract<ErrorCode, 'INVALID_JSON' | 'INVALID_FIELD' | 'UNKNOWN_FRAME'>
  readonly field?: string
  readonly rule?: string
  readonly id?: string
  readonly conv_id?: string
  readonly call_id?: string
}

/** A decoded frame, or what is wrong with it. */
export type Decoded<Frame> =
  | { readonly frame: Frame; readonly fault?: undefined }
  | { readonly frame?: undefined; readonly fault: FrameFault }

/** Decodes what a client sent. Unknown fields are dropped. */
export function decodeClientFrame(text: string): Decoded<ClientFrame> {
  const value = parseObject(text)
  const decoded = decode<ClientFrame>(value, (type) =>
    isClientFrameType(type) ? clientFrames[type] : undefined,
  )
  return value && decoded.fault ? { fault: { ...decoded.fault, ...namesOf(value) } } : decoded
}

/** Decodes what a relay sent. Unknown fields are dropped. */
export function decodeRelayFrame(text: string): Decoded<RelayFrame> {
  return decode<RelayFrame>(parseObject(text), (type) =>
    isRelayFrameType(type) ? relayFrames[type] : undefined,
  )
}

/** Encodes a frame as one text frame. */
export function encodeFrame(frame: ClientFrame | RelayFrame): string {
  return JSON.stringify(frame)
}

type FrameSchema<Frame> = v.GenericSchema<unknown, Frame>

function decode<Frame>(
  value: Record<string, unknown> | undefined,
  schemaOf: (type: string) => FrameSchema<Frame> | undefined,
): Decoded<Frame> {
  if (!value) return { fault: { code: 'INVALID_JSON' } }
  if (typeof value.type !== 'string') {
    return {
      fault: { code: 'INVALID_FIELD', field: 'type', rule: 'must be the name of a frame' },
    }
  }
  const schema = schemaOf(value.type)
  if (!schema) return { fault: { code: 'UNKNOWN_FRAME' } }
  const result = v.safeParse(schema, value, { abortEarly: true, abortPipeEarly: true })
  if (result.success) return { frame: result.output }
  return { fault: { code: 'INVALID_FIELD', ...describeIssue(result.issues[0]) } }
}

/** The JSON object in a text; undefined if it is not one. */
export function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

// The relay echoes them so that a client knows which frame was refused. The peer chose them, so they are cut
// short.
function namesOf(value: Record<string, unknown>): { id?: string; conv_id?: string; call_id?: string } {
  return {
    ...(typeof value.id === 'string' ? { id: value.id.slice(0, 128) } : {}),
    ...(typeof value.conv_id === 'string' ? { conv_id: value.conv_id.slice(0, 64) } : {}),
    ...(typeof value.call_id === 'string' ? { call_id: value.call_id.slice(0, 128) } : {}),
  }
}
