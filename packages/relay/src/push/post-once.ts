// One POST over TLS to an address, of whose answer no more is read than the head, and of that no more than 16 KiB. `fetch`
// would hold a megabyte of it, and hear interim answers without end.
import { connect } from 'node:tls'

/** What is posted, and where. */
export interface Post {
  readonly address: string
  readonly port: number
  /** The name the certificate has to be for; the address where there is none. */
  readonly name: string | undefined
  /** Certificate authorities in place of those the system trusts, as PEM. */
  readonly authorities: string | undefined
  /** The path and the query, as in a URL. */
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** An answer. Its body was not read. */
export interface Answer {
  readonly status: number
  readonly retryAfter: string | null
}

const MOST_HEAD_CHARACTERS = 16_384
const END_OF_HEAD = '\r\n\r\n'

/** @throws where there is no connection, no certificate for the name, or no answer that is HTTP; and when `signal` says so */
export async function postOnce(post: Post, signal: AbortSignal): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const abort = (): void => reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  if (signal.aborted) abort()
  const { address: host, port, name: servername, authorities: ca, body } = post
  const socket = connect({
    ...{ host, port, ALPNProtocols: ['http/1.1'] },
    ...(servername === undefined ? {} : { servername }),
    ...(ca === undefined ? {} : { ca }),
  })
  let head = ''
  socket.once('secureConnect', () => socket.write(Buffer.concat([Buffer.from(headOf(post)), body])))
  socket.on('data', (piece: Buffer) => {
    head += piece.toString('latin1')
    try {
      const answer = answerIn(head)
      if (answer) resolve(answer)
      else if (head.length > MOST_HEAD_CHARACTERS) throw new Error('the head of the answer is too large')
    } catch (error) {
      reject(error)
    }
  })
  socket.on('error', reject)
  socket.once('close', () => reject(new Error('the connection ended without an answer')))
  try {
    return await promise
  } finally {
    signal.removeEventListener('abort', abort)
    socket.destroy()
  }
}

function headOf({ target, headers, body }: Post): string {
  const all = { ...headers, 'content-length': String(body.length), connection: 'close' }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`)
  return [`POST ${target} HTTP/1.1`, ...lines, '', ''].join('\r\n')
}

/** The answer, once its head is there whole; what comes before it is passed over (RFC 9110, 15.2). */
function answerIn(text: string): Answer | undefined {
  for (let from = 0; ; ) {
    const end = text.indexOf(END_OF_HEAD, from)
    if (end === -1) return undefined
    const [first = '', ...fields] = text.slice(from, end).split('\r\n')
    const code = /^HTTP\/1\.[01] (?<code>[1-5][0-9]{2})(?: |$)/.exec(first)?.groups?.code
    if (code === undefined) throw new Error('the answer is not HTTP')
    const status = Number(code)
    if (status >= 200) return { status, retryAfter: fieldOf(fields, 'retry-after') }
    from = end + END_OF_HEAD.length
  }
}

function fieldOf(fields: readonly string[], name: string): string | null {
  const found = fields.find((field) => field.slice(0, field.indexOf(':')).toLowerCase() === name)
  return found === undefined ? null : found.slice(name.length + 1).trim()
}
