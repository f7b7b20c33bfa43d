// HTTP written as bytes: requests that a correct client never sends, and answers as they come.
import { connect, type Socket } from 'node:net'
import { Finding } from './inputs.ts'

/** An answer. Its status is 0 if the relay closed the connection without one. */
export interface RawAnswer {
  readonly status: number
  readonly head: string
  readonly body: string
}

/** Text that looks like the relay's code, a file name, a query or a stack trace. No error may have it. */
export const INTERNALS =
  /\b(?:at .+:\d+:\d+|node_modules|\.ts\b|SELECT|INSERT|UPDATE|sqlite|postgres|valibot|TypeError|undefined|\[object)/i

/** So long that only an answer that never ends takes longer. */
const MOST_MS = 60_000
const PATIENCE_MS = 40
/** No command or body of JSON may be larger. */
const LARGE_BYTES = 64 * 1024
const CLOSED: RawAnswer = { status: 0, head: '', body: '' }

/** A connection that is kept: one request at a time. It connects again when it has to. */
export class HttpLane {
  readonly #to: { port: number } | { path: string }
  #socket: Socket | undefined

  /** @param to the relay's port, or the path of a Unix socket */
  constructor(to: { port: number } | { path: string }) {
    this.#to = to
  }

  /** Sends a whole request. @returns its answer @throws Finding if there is none in a minute */
  async ask(request: Uint8Array, isHead = false): Promise<RawAnswer> {
    const isKept = this.#socket !== undefined
    const answer = await this.#askOnce(request, isHead)
    // The relay may close a connection that is not in use at the moment when it is used again.
    return answer.status === 0 && isKept ? await this.#askOnce(request, isHead) : answer
  }

  async #askOnce(request: Uint8Array, isHead: boolean): Promise<RawAnswer> {
    const socket = this.#socket ?? (await open(this.#to))
    this.#socket = socket
    socket.write(request)
    const answer = await firstAnswer(socket, isHead)
    if (answer.status === 0 || answer.status === 101 || /^connection: *close/im.test(answer.head))
      this.close()
    return answer
  }

  close(): void {
    this.#socket?.destroy()
    this.#socket = undefined
  }
}

/**
 * Sends bytes on a connection of their own, waits briefly for an answer, and cuts the connection. (To bytes
 * that are no whole request, there is no answer.)
 * @param endsFirst closes the sending side right after the bytes
 */
export async function sendBytes(
  to: { port: number } | { path: string },
  bytes: Uint8Array,
  endsFirst: boolean,
): Promise<RawAnswer> {
  const socket = await open(to)
  const patience = setTimeout(() => socket.destroy(), PATIENCE_MS)
  try {
    socket.write(bytes)
    if (endsFirst) socket.end()
    return await firstAnswer(socket, false)
  } finally {
    clearTimeout(patience)
    socket.destroy()
  }
}

/**
 * Whether the answer can get lost: a server that refuses a large body closes the connection while the client
 * still sends, and the reset can overtake the answer (RFC 9112, section 9.6).
 */
export function mayLoseAnswer(request: string): boolean {
  return request.length > LARGE_BYTES
}

async function open(to: { port: number } | { path: string }): Promise<Socket> {
  return await new Promise((resolve, reject) => {
    const socket = connect('port' in to ? { ...to, host: '127.0.0.1' } : to, () => resolve(socket))
    socket.once('error', reject)
    socket.on('error', () => undefined) // `close` follows it.
  })
}

function firstAnswer(socket: Socket, isHead: boolean): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    let received: Buffer = Buffer.alloc(0)
    const late = setTimeout(
      () => done(new Finding(`no answer in a minute, only ${received.length} bytes`)),
      MOST_MS,
    )
    const done = (outcome: RawAnswer | Finding): void => {
      clearTimeout(late)
      socket.off('data', read).off('close', ended)
      if (outcome instanceof Finding) reject(outcome)
      else resolve(outcome)
    }
    const read = (data: Buffer): void => {
      received = received.length === 0 ? data : Buffer.concat([received, data])
      try {
        const answer = answerIn(received, isHead)
        if (answer) done(answer)
      } catch (error) {
        done(error instanceof Finding ? error : new Finding(String(error)))
      }
    }
    const ended = (): void => done(CLOSED)
    if (socket.destroyed) done(CLOSED)
    else socket.on('data', read).on('close', ended)
  })
}

/** The first answer in these bytes, without interim ones; undefined if it is not complete. */
function answerIn(bytes: Buffer, isHead: boolean): RawAnswer | undefined {
  const end = bytes.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const head = bytes.toString('latin1', 0, end)
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1])
  if (!status) throw new Finding(`an answer that is no HTTP: ${head.slice(0, 200)}`)
  const rest = bytes.subarray(end + 4)
  if (status === 100) return answerIn(rest, isHead)
  if (isHead || status === 101 || status === 204 || status === 304) return { status, head, body: '' }
  if (/^transfer-encoding: *chunked/im.test(head)) {
    const body = unchunked(rest)
    return body === undefined ? undefined : { status, head, body }
  }
  const length = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0)
  return rest.length < length ? undefined : { status, head, body: rest.toString('utf8', 0, length) }
}

function unchunked(bytes: Buffer): string | undefined {
  const pieces: Buffer[] = []
  for (let at = 0; ; ) {
    const end = bytes.indexOf('\r\n', at)
    if (end < 0) return undefined
    const length = Number.parseInt(bytes.toString('latin1', at, end), 16)
    if (length === 0) return bytes.length < end + 4 ? undefined : Buffer.concat(pieces).toString('utf8')
    if (bytes.length < end + 2 + length + 2) return undefined
    pieces.push(bytes.subarray(end + 2, end + 2 + length))
    at = end + 2 + length + 2
  }
}
