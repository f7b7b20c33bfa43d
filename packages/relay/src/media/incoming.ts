// Bytes as a client sends them, held to their announced length, their limit and the time they have.
import { ProtocolError } from '@sotto/protocol'
import type { RawBody } from '../listener/route.ts'
import type { IncomingBytes } from './blob-store.ts'

/**
 * The body of a request, to be read once. Reading it throws `PAYLOAD_TOO_LARGE` or, where it was cut short or its time is
 * up, `BODY_INCOMPLETE`. The listener ends who is silent; `ending` is for whoever sends a byte now and then.
 */
export function incoming(body: RawBody, ending: AbortSignal): IncomingBytes {
  return { pieces: piecesOf(body, ending), length: body.length, ending }
}

/** Frees a piece that is of no more use: waiting for the garbage collector would be tens of MiB a large file. */
export function freeNow({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
}

async function* piecesOf(body: RawBody, ending: AbortSignal): AsyncGenerator<Uint8Array> {
  let bytes = 0
  const reader = body.pieces?.getReader()
  const stop = (): void => {
    reader?.cancel().catch(() => undefined) // What is read next is the end.
  }
  ending.addEventListener('abort', stop)
  try {
    while (reader) {
      const { value, done } = await reader.read().catch(() => {
        throw new ProtocolError('BODY_INCOMPLETE') // The connection was cut.
      })
      if (done) break
      bytes += value.byteLength
      if (bytes > body.mostBytes) throw new ProtocolError('PAYLOAD_TOO_LARGE')
      yield value
    }
    if (ending.aborted || (body.length !== undefined && bytes !== body.length)) {
      throw new ProtocolError('BODY_INCOMPLETE')
    }
    if (bytes === 0) throw new ProtocolError('INVALID_FIELD', { field: 'body', rule: 'must not be empty' })
  } finally {
    ending.removeEventListener('abort', stop)
    stop()
  }
}
