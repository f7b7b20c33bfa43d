// Requests to an S3-compatible store: signed (AWS Signature Version 4), and repeated if that can help.
import { AwsV4Signer } from 'aws4fetch'
import { type After, systemAfter } from '../operations/after.ts'
import type { Clock } from '../operations/clock.ts'
import { BlobStoreError } from './blob-store.ts'
import type { S3Config } from './media-settings.ts'

const MOST_ATTEMPTS = 3
/** The time limit for an answer, after the request was sent. */
const ANSWER_WITHIN_MS = 120_000
/** More than the longest answer that is not an object: a list of a thousand uploads. */
const MOST_TEXT_BYTES = 4 * 1024 * 1024

/** A request to the store. */
export interface S3Request {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE'
  /** Empty for the bucket itself. */
  readonly key: string
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  /** A stream is opened again for each attempt. */
  readonly body?: string | (() => S3Stream)
  /** Aborts the request. */
  readonly ending?: AbortSignal | undefined
}

/** A body that is streamed. */
export interface S3Stream {
  readonly stream: ReadableStream<Uint8Array>
  /** Resolves when the whole body was sent. From then on the time limit for the answer runs. */
  readonly ended: Promise<unknown>
  /** Why the stream failed, if it did. */
  failure(): unknown
}

/** An answer that is not a failure of the store: the request succeeded, or a code says why it did not. */
export interface S3Answer {
  readonly response: Response
  /** `NoSuchKey` and the like; undefined if the request succeeded. */
  readonly code: string | undefined
  /** The whole text of the answer; empty for HEAD. */
  readonly text: string
}

/** Signs and sends requests for one bucket. */
export class S3Requests {
  readonly #config: S3Config
  readonly #clock: Clock
  readonly #after: After

  /** @param after the timers of the time limits */
  constructor(config: S3Config, clock: Clock, after: After = systemAfter) {
    this.#config = config
    this.#clock = clock
    this.#after = after
  }

  /** @throws BlobStoreError if the store cannot be reached, fails, or denies access */
  async send(request: S3Request): Promise<S3Answer> {
    const { response, text } = await this.#ask(request, async (response) => {
      return { response, text: request.method === 'HEAD' ? '' : await textOf(response) }
    })
    // When completing or copying, the store may send an error after the status 200.
    const code =
      response.ok && !text.includes('<Error>') ? undefined : (elementOf(text, 'Code') ?? `${response.status}`)
    if (response.status >= 500 || response.status === 403 || code === 'InternalError')
      throw refused(request, code)
    return { response, code, text }
  }

  /**
   * Reads an object. The time limit of an answer applies to `read`, but not to a body that `read` passes on.
   * @throws BlobStoreError like {@link send}, and if the object does not exist
   */
  async open<T>(request: S3Request, read: (response: Response) => Promise<T>): Promise<T> {
    return await this.#ask(request, async (response) => {
      if (response.ok) return await read(response)
      await response.body?.cancel()
      throw refused(request, `${response.status}`)
    })
  }

  /** A link that lets its bearer send this request to the store, at the address that clients use. */
  async link(request: S3Request, seconds: number): Promise<string> {
    const query = { ...request.query, 'X-Amz-Expires': `${seconds}` }
    const signed = await this.#sign({ ...request, query }, this.#config.publicEndpoint, true)
    return signed.url.href
  }

  async #ask<T>(request: S3Request, read: (response: Response) => Promise<T>): Promise<T> {
    const { method, body, ending } = request
    for (let attempt = 1; ; attempt++) {
      const isLast = attempt === MOST_ATTEMPTS
      const streamed = typeof body === 'function' ? body() : undefined
      const timeout = timeLimit(this.#after, streamed?.ended ?? Promise.resolve())
      try {
        const { url, headers } = await this.#sign(request, this.#config.endpoint, false)
        const response = await fetch(url, {
          method,
          headers,
          redirect: 'manual',
          signal: ending ? AbortSignal.any([timeout.signal, ending]) : timeout.signal,
          ...(typeof body === 'string' ? { body } : streamed ? { body: streamed.stream } : {}),
        })
        if (isLast || (response.status < 500 && response.status !== 429)) return await read(response)
        await response.body?.cancel()
      } catch (cause) {
        if (cause instanceof BlobStoreError) throw cause
        // Many bytes are not sent again to a store that does not answer.
        const isInVain = streamed && (timeout.signal.aborted || streamed.failure() !== undefined)
        if (isLast || isInVain || ending?.aborted)
          throw new BlobStoreError('the S3 store cannot be reached', { cause })
      } finally {
        timeout.stop()
      }
      await Bun.sleep(200 * attempt)
    }
  }

  async #sign(
    { method, key, query = {}, headers = {} }: S3Request,
    endpoint: URL,
    isLink: boolean,
  ): Promise<{ url: URL; headers: Headers }> {
    const { bucket, isPathStyle, region, accessKey, secretKey } = this.#config
    const url = new URL(endpoint)
    if (!isPathStyle) url.host = `${bucket}.${url.host}`
    url.pathname = isPathStyle ? `/${bucket}/${key}`.replace(/\/$/, '') : `/${key}`
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
    return await new AwsV4Signer({
      ...{ method, url: url.href, headers: { ...headers }, service: 's3', region },
      ...{ accessKeyId: accessKey, secretAccessKey: secretKey },
      datetime: new Date(this.#clock.now()).toISOString().replaceAll(/[-:]|\.\d+/g, ''),
      signQuery: isLink,
      allHeaders: isLink,
    }).sign()
  }
}

/** The text of the first XML element of that name. */
export function elementOf(xml: string, name: string): string | undefined {
  return elementsOf(xml, name)[0]
}

/** The text of every XML element of that name. */
export function elementsOf(xml: string, name: string): string[] {
  const found = xml.matchAll(new RegExp(`<${name}>(?<text>[^<]*)</${name}>`, 'g'))
  return Array.from(found, ({ groups }) => unescapeXml(groups?.text ?? ''))
}

function unescapeXml(text: string): string {
  const named: Readonly<Record<string, string>> = { '&quot;': '"', '&amp;': '&', '&lt;': '<', '&gt;': '>' }
  return text.replaceAll(/&\w+;/g, (entity) => named[entity] ?? entity)
}

// Only the code goes into the message: S3's codes are fixed words, but the whole answer may quote what was
// signed.
function refused({ method }: S3Request, code: string | undefined): BlobStoreError {
  return new BlobStoreError(`the S3 store answered ${code ?? 'nothing'} to ${method}`)
}

async function textOf(response: Response): Promise<string> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of response.body ?? []) {
    bytes += piece.byteLength
    if (bytes > MOST_TEXT_BYTES) throw new BlobStoreError('the S3 store sent a longer answer than expected')
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString()
}

/** A signal that is aborted if no answer comes in time after `beginning` resolves, unless it is stopped. */
function timeLimit(after: After, beginning: Promise<unknown>): { signal: AbortSignal; stop(): void } {
  const timeout = new AbortController()
  let cancel: (() => void) | undefined
  let isStopped = false
  void beginning.then(() => {
    if (!isStopped) cancel = after(ANSWER_WITHIN_MS, () => timeout.abort())
  })
  const stop = (): void => {
    isStopped = true
    cancel?.()
  }
  return { signal: timeout.signal, stop }
}
