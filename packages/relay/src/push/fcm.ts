// Wakes Android devices through the HTTP v1 API of Firebase Cloud Messaging, with the key of a service
// account. A push contains the same as a Web Push, but it is not encrypted: Google can read it.

import { readFileSync } from 'node:fs'
import type { Limits } from '@sotto/protocol'
import { createSigner, type SignerSync } from 'fast-jwt'
import * as v from 'valibot'
import type { Clock } from '../operations/clock.ts'
import { SettingError } from '../operations/setting-error.ts'
import { abortable } from './abortable.ts'
import type { FcmConfig } from './push-config.ts'
import {
  type Outcome,
  outcomeOf,
  type PushService,
  SEND_MS,
  type WakeKind,
  wakeTypes,
} from './push-service.ts'
import type { Subscription } from './subscriptions.ts'

const SCOPE = 'https://www.googleapis.com/auth/firebase.messaging'
const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const ASSERTION_SECONDS = 3600
/**
 * An access token is renewed this long before it expires, so that it is still valid when it arrives at
 * Google.
 */
const RENEW_BEFORE_MS = 60_000
const MOST_ANSWER_BYTES = 16_384

const ServiceAccount = v.object({
  project_id: v.pipe(v.string(), v.regex(/^[\w.:-]{1,128}$/)),
  client_email: v.string(),
  private_key: v.string(),
  token_uri: v.pipe(v.string(), v.url(), v.startsWith('https://')),
})
type ServiceAccount = v.InferOutput<typeof ServiceAccount>

const TokenReply = v.object({ access_token: v.string(), expires_in: v.number() })

/**
 * The service sent an answer that cannot be used. This may be temporary, so the push is tried again later.
 */
class UnusableAnswer extends Error {
  override readonly name = 'UnusableAnswer'
}

export class Fcm implements PushService {
  readonly #url: string
  readonly #account: ServiceAccount
  readonly #sign: typeof SignerSync
  readonly #limits: Limits
  readonly #clock: Clock
  #token: { readonly value: string; readonly endsAt: number } | undefined
  #tokenRequest: Promise<string> | undefined

  /** @throws SettingError if the service account's file cannot be used */
  constructor(config: FcmConfig, parts: { limits: Limits; clock: Clock }) {
    this.#account = readServiceAccount(config.serviceAccount)
    this.#url = `${config.apiUrl}/v1/projects/${this.#account.project_id}/messages:send`
    this.#sign = signerOf(this.#account)
    this.#limits = parts.limits
    this.#clock = parts.clock
  }

  async send(to: Subscription, kind: WakeKind, signal: AbortSignal): Promise<Outcome> {
    const ends = AbortSignal.any([signal, AbortSignal.timeout(SEND_MS)])
    try {
      const token = await abortable(this.#accessToken(), ends)
      const response = await fetch(this.#url, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify(this.#messageFor(to.target, kind)),
        redirect: 'manual',
        signal: ends,
      })
      const text = await readText(response)
      return this.#outcomeOf(response, text)
    } catch (error) {
      if (error instanceof UnusableAnswer) return { kind: 'later', reason: error.message }
      return { kind: 'later', reason: ends.aborted ? 'no answer in time' : 'no connection' }
    }
  }

  /** Asks for an access token. @returns why there is none; undefined if there is one */
  async findTrouble(): Promise<string | undefined> {
    try {
      await this.#accessToken()
      return undefined
    } catch (error) {
      return error instanceof UnusableAnswer ? error.message : 'no connection'
    }
  }

  #messageFor(token: string, kind: WakeKind) {
    const { pushCallLifeSeconds, pushMessageLifeSeconds } = this.#limits
    const ttl = `${kind === 'call' ? pushCallLifeSeconds : pushMessageLifeSeconds}s`
    const android = { priority: 'HIGH', ttl, collapse_key: kind }
    // Published clients read `conv_id`. It is empty, because the service must not learn the conversation.
    return { message: { token, data: { type: wakeTypes[kind], conv_id: '' }, android } }
  }

  #outcomeOf(response: Response, text: string): Outcome {
    const { status } = response
    // The service also answers 404 for an unknown project, so a 404 alone does not delete a subscription.
    if (status === 404 && !text.includes('UNREGISTERED'))
      return { kind: 'later', status, reason: 'answered 404' }
    if (status === 401) {
      this.#token = undefined
      return { kind: 'later', status, reason: 'answered 401' }
    }
    return outcomeOf(status, response.headers.get('retry-after'), this.#clock.now())
  }

  async #accessToken(): Promise<string> {
    if (this.#token && this.#token.endsAt > this.#clock.monotonic()) return this.#token.value
    this.#tokenRequest ??= this.#requestToken().finally(() => {
      this.#tokenRequest = undefined
    })
    return await this.#tokenRequest
  }

  async #requestToken(): Promise<string> {
    const { client_email: iss, token_uri: aud } = this.#account
    const iat = Math.floor(this.#clock.now() / 1000)
    const assertion = this.#sign({ iss, aud, scope: SCOPE, iat, exp: iat + ASSERTION_SECONDS })
    const response = await fetch(aud, {
      method: 'POST',
      body: new URLSearchParams({ grant_type: GRANT, assertion }),
      redirect: 'manual',
      signal: AbortSignal.timeout(SEND_MS),
    })
    const text = await readText(response)
    if (response.status !== 200) throw new UnusableAnswer(`no token: answered ${response.status}`)
    const { access_token: value, expires_in: seconds } = tokenReplyOf(text)
    this.#token = { value, endsAt: this.#clock.monotonic() + seconds * 1000 - RENEW_BEFORE_MS }
    return value
  }
}

function tokenReplyOf(text: string): v.InferOutput<typeof TokenReply> {
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), TokenReply), text)
  if (!parsed.success) throw new UnusableAnswer('no token in the answer')
  return parsed.output
}

function readServiceAccount(path: string): ServiceAccount {
  try {
    return v.parse(v.pipe(v.string(), v.parseJson(), ServiceAccount), readFileSync(path, 'utf8'))
  } catch {
    // The file contains a private key, so the message must not quote it.
    throw new SettingError('FCM_SERVICE_ACCOUNT', 'the path of a service account’s key file (JSON)')
  }
}

function signerOf(account: ServiceAccount): typeof SignerSync {
  try {
    createSigner({ algorithm: 'RS256', key: account.private_key })({ iat: 0 })
    return createSigner({ algorithm: 'RS256', key: account.private_key })
  } catch {
    throw new SettingError('FCM_SERVICE_ACCOUNT', 'a file with an RSA key in `private_key`')
  }
}

async function readText(response: Response): Promise<string> {
  const pieces: Uint8Array[] = []
  let length = 0
  for await (const piece of response.body ?? []) {
    length += piece.byteLength
    if (length > MOST_ANSWER_BYTES) throw new UnusableAnswer('its answer is too large')
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString()
}
