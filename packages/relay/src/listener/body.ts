// Reads JSON bodies, and never holds more bytes of one than allowed.
import { ProtocolError } from '@sotto/protocol'

/**
 * The body as a JSON object. A missing body counts as `{}`. The content type is ignored, because published
 * clients do not send one.
 * @throws ProtocolError `PAYLOAD_TOO_LARGE` or `INVALID_JSON`
 */
export async function readJsonBody(request: Request, mostBytes: number): Promise<object> {
  checkLength(request, mostBytes)
  const text = await readText(request, mostBytes)
  if (text.trim() === '') return {}
  const value = parse(text)
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new ProtocolError('INVALID_JSON')
  return value
}

/** @throws ProtocolError `PAYLOAD_TOO_LARGE` if the request's content-length is too large */
export function checkLength(request: Request, mostBytes: number): void {
  if (Number(request.headers.get('content-length') ?? 0) > mostBytes)
    throw new ProtocolError('PAYLOAD_TOO_LARGE')
}

async function readText(request: Request, mostBytes: number): Promise<string> {
  if (!request.body) return ''
  const decoder = new TextDecoder('utf-8', { fatal: true })
  // The announced length was checked already, so the body is read at once. That costs half as much as reading
  // pieces.
  if (request.headers.has('content-length')) return decode(decoder, await bytesOf(request))
  let text = ''
  let bytes = 0
  for await (const piece of piecesOf(request.body)) {
    bytes += piece.byteLength
    if (bytes > mostBytes) throw new ProtocolError('PAYLOAD_TOO_LARGE')
    text += decode(decoder, piece, { stream: true })
  }
  return text + decode(decoder)
}

async function bytesOf(request: Request): Promise<Uint8Array> {
  try {
    return await request.bytes()
  } catch {
    throw new ProtocolError('INVALID_JSON')
  }
}

// A client that disconnects in the middle of its body is not a failure of the relay, so it is not logged as
// one.
async function* piecesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* body
  } catch {
    throw new ProtocolError('INVALID_JSON')
  }
}

function decode(decoder: TextDecoder, piece?: Uint8Array, options?: { stream: boolean }): string {
  try {
    return decoder.decode(piece, options)
  } catch {
    throw new ProtocolError('INVALID_JSON') // Not UTF-8.
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new ProtocolError('INVALID_JSON')
  }
}
