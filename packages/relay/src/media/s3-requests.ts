// Requests to an S3-compatible store, signed (AWS Signature Version 4) and tried again where that can help.
import { AwsV4Signer } from 'aws4fetch'
import type { Clock } from '../operations/clock.ts'
import { BlobStoreError } from './blob-store.ts'
import type { S3Config } from './media-settings.ts'

const MOST_ATTEMPTS = 3
const ANSWER_WITHIN_MS = 120_000

/** What is asked of the store. */
export interface S3Request {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE'
  /** Empty for the bucket itself. */
  readonly key: string
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>
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

  constructor(config: S3Config, clock: Clock) {
    this.#config = config
    this.#clock = clock
  }

  /** @throws BlobStoreError where the store cannot be reached, fails, or does not let us in */
  async send(request: S3Request): Promise<S3Answer> {
    const { response } = await this.#attempts(request)
    const text = request.method === 'HEAD' ? '' : await failing(() => response.text())
    // Completing and copying may fail after the status was sent.
    const code =
      response.ok && !text.includes('<Error>') ? undefined : (elementOf(text, 'Code') ?? `${response.status}`)
    if (response.status >= 500 || response.status === 403 || code === 'InternalError')
      throw refused(request, code)
    return { response, code, text }
  }

  /** The bytes of an object, as they come. @throws BlobStoreError as {@link send}, and where there is no such object */
  async open(request: S3Request): Promise<Response> {
    const { response } = await this.#attempts(request)
    if (response.ok) return response
    await response.body?.cancel()
    throw refused(request, `${response.status}`)
  }

  /** A link that lets its bearer make this request of the store, by the address that clients reach it at. */
  async link(request: S3Request, seconds: number): Promise<string> {
    const query = { ...request.query, 'X-Amz-Expires': `${seconds}` }
    const signed = await this.#sign({ ...request, query }, this.#config.publicEndpoint, true)
    return signed.url.href
  }

  async #attempts(request: S3Request): Promise<{ response: Response }> {
    // A stream cannot be sent twice.
    const mostAttempts = request.body instanceof ReadableStream ? 1 : MOST_ATTEMPTS
    for (let attempt = 1; ; attempt++) {
      const isLast = attempt === mostAttempts
      try {
        const { url, headers } = await this.#sign(request, this.#config.endpoint, false)
        const within =
          request.body instanceof ReadableStream ? {} : { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) }
        const { method, body } = request
        const response = await fetch(url, {
          method,
          headers,
          redirect: 'manual',
          ...(body ? { body } : {}),
          ...within,
        })
        if (isLast || (response.status < 500 && response.status !== 429)) return { response }
        await response.body?.cancel()
      } catch (cause) {
        if (isLast) throw new BlobStoreError('the S3 store cannot be reached', { cause })
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

/** Has a failed connection tell that it is the store's. */
export async function failing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    throw new BlobStoreError('the connection to the S3 store was lost', { cause })
  }
}
