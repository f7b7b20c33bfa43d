// Requests to an S3-compatible store, signed (AWS Signature Version 4) and tried again where that can help.
import { AwsV4Signer } from 'aws4fetch'
import type { Clock } from '../operations/clock.ts'
import { BlobStoreError } from './blob-store.ts'
import type { S3Config } from './media-settings.ts'

const MOST_ATTEMPTS = 3
const ANSWER_WITHIN_MS = 120_000
/** More than the longest answer that is not an object: a list of a thousand uploads. */
const MOST_TEXT_BYTES = 4 * 1024 * 1024

/** What is asked of the store. */
export interface S3Request {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE'
  /** Empty for the bucket itself. */
  readonly key: string
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | S3Stream
  /** Ends the request. */
  readonly ending?: AbortSignal | undefined
}

/** A body that is sent as it comes, once. */
export interface S3Stream {
  readonly stream: ReadableStream<Uint8Array>
  /** Resolves when all of it was taken: from then on the store has its time to answer. */
  readonly ended: Promise<unknown>
}

/** An answer that is no failure of the store: what was asked was done, or there is a code for why not. */
export interface S3Answer {
  readonly response: Response
  /** `NoSuchKey` and the like; undefined where the answer is a success. */
  readonly code: string | undefined
  /** All of its text, where that is not the object itself. */
  readonly text: string
}

/** Signs and sends requests for one bucket. */
export class S3Requests {
  readonly #config: S3Config
  readonly #clock: Clock
  readonly #answerWithinMs: number

  /** @param answerWithinMs how long the store may take to answer what was sent */
  constructor(config: S3Config, clock: Clock, answerWithinMs: number = ANSWER_WITHIN_MS) {
    this.#config = config
    this.#clock = clock
    this.#answerWithinMs = answerWithinMs
  }

  /** @throws BlobStoreError where the store cannot be reached, fails, or does not let us in */
  async send(request: S3Request): Promise<S3Answer> {
    const { response, text } = await this.#ask(request, async (response) => {
      return { response, text: request.method === 'HEAD' ? '' : await textOf(response) }
    })
    // Completing and copying may fail after the status was sent.
    const code =
      response.ok && !text.includes('<Error>') ? undefined : (elementOf(text, 'Code') ?? `${response.status}`)
    if (response.status >= 500 || response.status === 403 || code === 'InternalError')
      throw refused(request, code)
    return { response, code, text }
  }

  /**
   * Has an object read. What `read` waits for has to come in the time an answer has; a body it hands on has any time.
   * @throws BlobStoreError as {@link send}, and where there is no such object
   */
  async open<T>(request: S3Request, read: (response: Response) => Promise<T>): Promise<T> {
    return await this.#ask(request, async (response) => {
      if (response.ok) return await read(response)
      await response.body?.cancel()
      throw refused(request, `${response.status}`)
    })
  }

  /** A link that lets its bearer make this request of the store, by the address that clients reach it at. */
  async link(request: S3Request, seconds: number): Promise<string> {
    const query = { ...request.query, 'X-Amz-Expires': `${seconds}` }
    const signed = await this.#sign({ ...request, query }, this.#config.publicEndpoint, true)
    return signed.url.href
  }

  async #ask<T>(request: S3Request, read: (response: Response) => Promise<T>): Promise<T> {
    const { method, body, ending } = request
    // A stream cannot be sent twice.
    const isOnce = typeof body === 'object'
    const mostAttempts = isOnce ? 1 : MOST_ATTEMPTS
    for (let attempt = 1; ; attempt++) {
      const isLast = attempt === mostAttempts
      const late = lateAfter(this.#answerWithinMs, isOnce ? body.ended : Promise.resolve())
      try {
        const { url, headers } = await this.#sign(request, this.#config.endpoint, false)
        const response = await fetch(url, {
          method,
          headers,
          redirect: 'manual',
          signal: ending ? AbortSignal.any([late.signal, ending]) : late.signal,
          ...(body === undefined ? {} : { body: isOnce ? body.stream : body }),
        })
        if (isLast || (response.status < 500 && response.status !== 429)) return await read(response)
        await response.body?.cancel()
      } catch (cause) {
        if (cause instanceof BlobStoreError) throw cause
        if (isLast) throw new BlobStoreError('the S3 store cannot be reached', { cause })
      } finally {
        late.stop()
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

// Codes of S3 are fixed words. Never the whole answer, which may quote what is signed.
function refused({ method }: S3Request, code: string | undefined): BlobStoreError {
  return new BlobStoreError(`the S3 store answered ${code ?? 'nothing'} to ${method}`)
}

async function textOf(response: Response): Promise<string> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of response.body ?? []) {
    bytes += piece.byteLength
    if (bytes > MOST_TEXT_BYTES) throw new BlobStoreError('the S3 store answered more than any answer has')
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString()
}

/** A signal that is given so long after `beginning`, unless it is stopped before. */
function lateAfter(ms: number, beginning: Promise<unknown>): { signal: AbortSignal; stop(): void } {
  const late = new AbortController()
  let timer: Timer | undefined
  let isStopped = false
  void beginning.then(() => {
    if (!isStopped) timer = setTimeout(() => late.abort(), ms)
  })
  const stop = (): void => {
    isStopped = true
    clearTimeout(timer)
  }
  return { signal: late.signal, stop }
}
