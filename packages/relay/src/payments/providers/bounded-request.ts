// Requests to another party's HTTP API: limited time, a limited answer, no redirects. Its words never appear
// in our messages.
import { SettingError } from '../../operations/setting-error.ts'

/** The other side gave no usable answer. The message is the relay's own text, never theirs. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable'
}

/** The answer was larger than allowed. A repeated request would get the same answer. */
export class AnswerTooLarge extends Unreachable {}

/** A request, and the limits for its answer. */
export interface BoundedRequest {
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly mostBytes: number
  /** Aborts the request. */
  readonly signal?: AbortSignal
}

/** An answer of any status. */
export interface BoundedAnswer {
  readonly status: number
  readonly text: string
  /** How long the other side asks us to wait, in milliseconds; undefined if it does not say. */
  readonly retryAfterMs: number | undefined
}

const MOST_MS = 10_000

/** @throws Unreachable if nothing answers in time, or the answer is too large */
export async function request(url: string, asked: BoundedRequest): Promise<BoundedAnswer> {
  const timeout = AbortSignal.timeout(MOST_MS)
  try {
    const response = await fetch(url, {
      method: asked.method,
      // A small compressed answer could become a large one.
      headers: { accept: 'application/json', 'accept-encoding': 'identity', ...asked.headers },
      redirect: 'manual',
      signal: asked.signal ? AbortSignal.any([timeout, asked.signal]) : timeout,
      ...(asked.body === undefined ? {} : { body: asked.body }),
    })
    const bytes = await readBytes(response.body, asked.mostBytes)
    if (bytes === undefined) throw new AnswerTooLarge('its answer is too large')
    return {
      status: response.status,
      text: new TextDecoder().decode(bytes),
      retryAfterMs: secondsOf(response.headers.get('retry-after')),
    }
  } catch (error) {
    if (error instanceof Unreachable) throw error
    throw new Unreachable(timeout.aborted ? 'no answer in time' : 'no connection')
  }
}

/** The bytes of a body; undefined if there are more than `mostBytes`. Reading stops there. */
export async function readBytes(
  body: ReadableStream<Uint8Array> | null,
  mostBytes: number,
): Promise<Uint8Array | undefined> {
  const pieces: Uint8Array[] = []
  let length = 0
  for await (const piece of body ?? []) {
    length += piece.byteLength
    if (length > mostBytes) return undefined
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}

/**
 * Reads a setting that is the address of an API. Removes slashes at its end.
 * @throws SettingError
 */
export function interfaceUrlOf(setting: string, text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !isConfidential(url) || url.search || url.hash || url.username || url.password) {
    throw new SettingError(setting, 'a URL that begins with https://, without a query or a password')
  }
  return url.href.replace(/\/+$/, '')
}

/** Whether nobody on the network can read it: https, or http that does not leave this machine. */
export function isConfidential({ protocol, hostname }: URL): boolean {
  const isLoopback = /^(?:127(?:\.[0-9]{1,3}){3}|localhost|\[::1\])$/.test(hostname)
  return protocol === 'https:' || (protocol === 'http:' && isLoopback)
}

function secondsOf(header: string | null): number | undefined {
  return header !== null && /^[0-9]{1,5}$/.test(header) ? Number(header) * 1000 : undefined
}
