// The bytes that a client sends, checked against their announced length, the limit and the time allowed.
import { setTimeout as sleep } from 'node:timers/promises'
import { ProtocolError } from '@sotto/protocol'
import type { RawBody } from '../listener/route.ts'
import type { IncomingBytes } from './blob-store.ts'

/** A request body that is uploaded. */
export interface UploadBody extends RawBody {
  /** Counts bytes that were read. @returns the milliseconds to wait before more are read */
  readonly arrived?: (bytes: number) => number
}

/**
 * The body of a request, to be read once. Reading it throws `PAYLOAD_TOO_LARGE`, or `BODY_INCOMPLETE` if it
 * was cut off or `ending` is aborted. The listener ends a connection that is silent; `ending` ends one that
 * sends very slowly.
 */
export function incoming(body: UploadBody, ending: AbortSignal): IncomingBytes {
  return { pieces: piecesOf(body, ending), length: body.length, ending }
}

/**
 * Frees the memory of a piece that is no longer needed. Waiting for the garbage collector would keep tens of
 * MiB for each large file.
 */
export function freeNow({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
}

async function* piecesOf(body: UploadBody, ending: AbortSignal): AsyncGenerator<Uint8Array> {
  let bytes = 0
  const reader = body.pieces?.getReader()
  const stop = (): void => {
    reader?.cancel().catch(() => undefined) // The next read then reports the end.
  }
  ending.addEventListener('abort', stop)
  if (ending.aborted) stop() // An abort that came before this is not reported again.
  try {
    while (reader) {
      const { value, done } = await reader.read().catch(() => {
        throw new ProtocolError('BODY_INCOMPLETE') // The connection was cut.
      })
      if (done) break
      bytes += value.byteLength
      if (bytes > body.mostBytes) throw new ProtocolError('PAYLOAD_TOO_LARGE')
      const waitMs = body.arrived?.(value.byteLength) ?? 0
      yield value
      // The client waits too, because the connection's buffers fill up. An abort ends the next read.
      if (waitMs > 0) await sleep(waitMs, undefined, { signal: ending }).catch(() => undefined)
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
