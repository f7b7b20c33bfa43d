// Sends one POST over TLS to an IP address. Reads at most 16 KiB of the answer's head and ignores its body.
import { request } from 'node:https'

/** The request to send, and its destination. */
export interface Post {
  readonly address: string
  readonly port: number
  /** The host name that the certificate must be valid for; if undefined, it must be valid for the address. */
  readonly name: string | undefined
  /** Certificate authorities used instead of the system's, as PEM. */
  readonly authorities: string | undefined
  /** The path and the query, as in a URL. */
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** The answer. Its body is not read. */
export interface Answer {
  readonly status: number
  readonly retryAfter: string | null
}

/** Limit for all bytes before the final answer: its head and all interim answers. */
const MOST_HEAD_BYTES = 16_384

/**
 * @throws if there is no connection, the certificate is not valid for the name, the answer is not HTTP, or
 *   `signal` is aborted
 */
export async function postOnce(post: Post, signal: AbortSignal): Promise<Answer> {
  signal.throwIfAborted()
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const { address: host, port, name, authorities: ca, target: path, body } = post
  const sent = request({
    ...{ host, port, path, method: 'POST', agent: false, maxHeaderSize: MOST_HEAD_BYTES },
    headers: { ...post.headers, 'content-length': String(body.length), connection: 'close' },
    // If this were left out, Node.js would use the `Host` header. Empty means: the certificate must be valid
    // for the address.
    servername: name ?? '',
    ...(ca === undefined ? {} : { ca }),
  })
  // `maxHeaderSize` limits each head separately; a server could still send interim answers and blank lines
  // for ever.
  let receivedBytes = 0
  sent.once('socket', (socket) =>
    socket.on('data', (piece: Buffer) => {
      receivedBytes += piece.length
      // The parser received these bytes first, so an answer that they complete is accepted.
      if (receivedBytes > MOST_HEAD_BYTES) reject(new Error('the head of the answer is too large'))
    }),
  )
  sent.once('response', ({ statusCode: status = 0, headers }) => {
    if (status < 200 || status > 599) reject(new Error(`status ${status} is not a final HTTP status`))
    else resolve({ status, retryAfter: headers['retry-after'] ?? null })
  })
  sent.on('error', reject)
  sent.once('close', () => reject(new Error('the connection ended without an answer')))
  const abort = (): void => reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  sent.end(body)
  try {
    return await promise
  } finally {
    signal.removeEventListener('abort', abort)
    sent.destroy()
  }
}
