// Signed requests to an ACME server (RFC 8555, 6): each has a nonce of the server and a signature by the key
// of the account.
import { createHash, createPublicKey, type KeyObject, sign } from 'node:crypto'
import * as v from 'valibot'

/** The server refused, or answered what no ACME server answers. The message is for the operator's log. */
export class AcmeError extends Error {
  override readonly name = 'AcmeError'
  /** The type of its problem document, `urn:ietf:params:acme:error:…`; empty if it had none. */
  readonly type: string

  constructor(message: string, type = '') {
    super(message)
    this.type = type
  }
}

/** A server's answer. */
export interface AcmeAnswer {
  readonly headers: Headers
  readonly text: string
}

export interface AcmeRequestParts {
  /** The address of the server's directory. */
  readonly directory: string
  /** The authority that signed the server's own certificate, PEM; undefined for those of the system. */
  readonly ca: string | undefined
  /** The account's private key, on the curve P-256. */
  readonly accountKey: KeyObject
  readonly signal: AbortSignal
}

const BAD_NONCE = 'urn:ietf:params:acme:error:badNonce'
/** The most characters of a server's text in the log, for each of its parts. */
const MOST_LOGGED = 300
const MOST_ANSWER_BYTES = 1024 * 1024
const MOST_NONCES = 8
const ANSWER_WITHIN_MS = 30_000

const Directory = v.object({
  newNonce: v.string(),
  newAccount: v.string(),
  newOrder: v.string(),
  meta: v.optional(v.object({ profiles: v.optional(v.record(v.string(), v.unknown()), {}) })),
})
const Problem = v.object({ type: v.optional(v.string(), ''), detail: v.optional(v.string(), '') })
const Jwk = v.object({ crv: v.string(), kty: v.string(), x: v.string(), y: v.string() })

export class AcmeRequests {
  readonly directory: v.InferOutput<typeof Directory>
  readonly #parts: AcmeRequestParts
  readonly #jwk: v.InferOutput<typeof Jwk>
  #nonce: string | undefined
  /** The address of the account, by which requests name it. Undefined before it is known. */
  #account: string | undefined

  private constructor(parts: AcmeRequestParts, directory: v.InferOutput<typeof Directory>) {
    this.#parts = parts
    this.directory = directory
    this.#jwk = v.parse(Jwk, createPublicKey(parts.accountKey).export({ format: 'jwk' }))
  }

  /** Reads the server's directory. @throws AcmeError, or what `fetch` throws */
  static async open(parts: AcmeRequestParts): Promise<AcmeRequests> {
    const { text } = await ask(parts, parts.directory, { method: 'GET' })
    return new AcmeRequests(parts, parsedJson(Directory, text))
  }

  /** Opens the account of the key, which may exist already. Later requests are of this account. */
  async openAccount(email: string | undefined): Promise<void> {
    const contact = email === undefined ? {} : { contact: [`mailto:${email}`] }
    const { headers } = await this.post(this.directory.newAccount, { termsOfServiceAgreed: true, ...contact })
    this.#account = headers.get('location') ?? undefined
    if (this.#account === undefined) throw new AcmeError('the account has no address')
  }

  /** Sends a request. @param payload undefined to read what the address has (POST-as-GET) */
  async post(url: string, payload?: object): Promise<AcmeAnswer> {
    for (let noncesLeft = MOST_NONCES; ; noncesLeft--) {
      const nonce = this.#nonce ?? (await this.#newNonce())
      this.#nonce = undefined
      const owner = this.#account === undefined ? { jwk: this.#jwk } : { kid: this.#account }
      const body = this.#signed({ alg: 'ES256', nonce, url, ...owner }, payload)
      try {
        const answer = await ask(this.#parts, url, {
          method: 'POST',
          headers: { 'content-type': 'application/jose+json' },
          body,
        })
        this.#nonce = answer.headers.get('replay-nonce') ?? undefined
        return answer
      } catch (error) {
        if (!(error instanceof AcmeError && error.type === BAD_NONCE) || noncesLeft === 0) throw error
      }
    }
  }

  /** What a challenge's file must contain (RFC 8555, 8.1). */
  keyAuthorization(token: string): string {
    const { crv, kty, x, y } = this.#jwk
    const thumbprint = createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url')
    return `${token}.${thumbprint}`
  }

  async #newNonce(): Promise<string> {
    const { headers } = await ask(this.#parts, this.directory.newNonce, { method: 'HEAD' })
    const nonce = headers.get('replay-nonce')
    if (nonce === null) throw new AcmeError('the server gave no nonce')
    return nonce
  }

  #signed(header: object, payload: object | undefined): string {
    const coded = base64(JSON.stringify(header))
    const body = payload === undefined ? '' : base64(JSON.stringify(payload))
    const key = { key: this.#parts.accountKey, dsaEncoding: 'ieee-p1363' } as const
    const signature = sign('sha256', Buffer.from(`${coded}.${body}`), key).toString('base64url')
    return JSON.stringify({ protected: coded, payload: body, signature })
  }
}

/** @throws AcmeError if the text has another form */
export function parsedJson<T extends v.GenericSchema>(schema: T, text: string): v.InferOutput<T> {
  try {
    return v.parse(schema, JSON.parse(text))
  } catch {
    throw new AcmeError('the server answered what no ACME server answers')
  }
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64url')
}

async function ask(
  { ca, signal }: AcmeRequestParts,
  url: string,
  init: { method: string; headers?: Record<string, string>; body?: string },
): Promise<AcmeAnswer> {
  if (!url.startsWith('https://')) throw new AcmeError('the server named an address without https')
  const response = await fetch(url, {
    ...init,
    redirect: 'error',
    signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_WITHIN_MS)]),
    ...(ca === undefined ? {} : { tls: { ca } }),
  })
  const text = await boundedText(response)
  if (response.ok) return { headers: response.headers, text }
  const { type, detail } = problemOf(text)
  const [what, why] = [type, detail].map((said) => said.slice(0, MOST_LOGGED))
  throw new AcmeError(`the server answered ${response.status} ${what}: ${why}`, type)
}

function problemOf(text: string): v.InferOutput<typeof Problem> {
  try {
    return v.parse(Problem, JSON.parse(text))
  } catch {
    return { type: '', detail: '' } // A page of a proxy, for example.
  }
}

async function boundedText(response: Response): Promise<string> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of response.body ?? []) {
    bytes += piece.length
    if (bytes > MOST_ANSWER_BYTES) throw new AcmeError('the server answered too much')
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString('utf8')
}
