// Frames over the size limit: they are refused without being parsed, because parsing a long text blocks the
// relay.
import { ProtocolError } from '@sotto/protocol'
import type { FrameNames } from './error-frame.ts'

/** A frame of more than so many times the limit is not even received: it closes the connection with 1009. */
export const RECEIVED_TIMES = 4
/** Where the names of an oversized frame are looked for. Published clients write their payload last. */
const START_CHARACTERS = 1024
/** A member of a JSON object with a plain value, after the brace or comma before it. */
const PLAIN_MEMBER = /\s*[{,]\s*"(\w+)"\s*:\s*(?:"([^"\\]*)"|[\w.+-]+)/gy

/** The refusal of a frame over the limit; undefined if it is not over it. */
export function refusalOfSize(data: string | Buffer, mostBytes: number): ProtocolError | undefined {
  // UTF-8 takes up to three bytes for each unit of a string.
  const isSmall = data.length * (typeof data === 'string' ? 3 : 1) <= mostBytes
  if (isSmall || Buffer.byteLength(data) <= mostBytes) return undefined
  return new ProtocolError('PAYLOAD_TOO_LARGE', {
    field: 'frame',
    rule: `must be at most ${mostBytes} bytes`,
  })
}

/** What an oversized frame is about, as far as its beginning says so. */
export function namesAtStart(data: string | Buffer): FrameNames {
  if (typeof data !== 'string') return {}
  const start = data.slice(0, START_CHARACTERS)
  if (!/^\s*\{/.test(start)) return {}
  const found = new Map(Array.from(start.matchAll(PLAIN_MEMBER), ([, name, text]) => [name, text]))
  const short = (name: keyof FrameNames, characters: number) => found.get(name)?.slice(0, characters)
  return { id: short('id', 128), conv_id: short('conv_id', 64), call_id: short('call_id', 128) }
}
