// One upload or download: retries after network failures and restarts of the relay, as long as it makes
// progress.
import { createBlobHash } from '@sotto/crypto/blob-hash'
import type { Endpoint } from '@sotto/protocol'
import { ClientError, orAborted, throwIfAborted } from '../client-error.ts'
import { type AnyClient, moduleAccessOf } from '../module-access.ts'
import type { Platform } from '../platform/platform.ts'
import { Backoff, delay } from '../platform/platform.ts'
import {
  baseOf,
  type CallInput,
  type CallReply,
  type RelayRequest,
  readReply,
  readText,
  refusal,
  requestOf,
} from '../wire/wire.ts'
import { mediaPassOf } from './media-pass.ts'

/** A transfer fails after this time without progress. */
const PATIENCE_MS = 120_000
/** The longest wait requested by the relay that a transfer accepts. */
const MAX_WAIT_MS = 60_000
const RETRY = { firstMs: 500, maxMs: 8000 }
const MAX_PROBLEM_BYTES = 64 * 1024

/** The progress of a transfer. */
export interface TransferProgress {
  /** Bytes of the file, without the overhead of encryption. */
  readonly doneBytes: number
  /** Undefined for a stream, whose size is unknown. */
  readonly totalBytes: number | undefined
}

/** Options of a transfer. */
export interface TransferOptions {
  /** Called about every 5 MiB. It starts from zero again if the relay has lost an upload. */
  readonly onProgress?: (progress: TransferProgress) => void
  /** Aborts the transfer, which then throws `ABORTED` and leaves nothing behind. */
  readonly signal?: AbortSignal
}

/** A request whose body or answer is bytes. */
export interface BytesRequest extends Pick<RelayRequest, 'method' | 'path'> {
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array<ArrayBuffer>
  /** The request fails after this time without a response or data from the relay. */
  readonly silenceMs: number
}

/** An answer that is being read. */
export interface Answer {
  readonly response: Response
  /** Call it whenever data arrives. */
  moved(): void
}

/** Transfers one blob for one contact, with one client's account. */
export class Transfer {
  readonly platform: Omit<Platform, 'store'>
  signal: AbortSignal | undefined
  readonly #client: AnyClient
  readonly #contact: string
  readonly #onProgress: TransferOptions['onProgress']
  readonly #backoff: Backoff
  /** The time of the first failure since the last progress. */
  #failingSince: number | undefined
  #deadToken: string | undefined
  #keyHash: string | undefined

  constructor(client: AnyClient, contact: string, { onProgress, signal }: TransferOptions) {
    this.platform = moduleAccessOf(client).platform
    this.signal = signal
    this.#client = client
    this.#contact = contact
    this.#onProgress = onProgress
    this.#backoff = new Backoff(this.platform.random, RETRY)
  }

  /**
   * From now on, the transfer is also aborted once this client is signed out, for the reason `SIGNED_OUT`.
   * Call the result when the transfer is over.
   */
  endWhenSignedOut(): () => void {
    const abort = new AbortController()
    const given = this.signal
    const pass = (): void => abort.abort(given?.reason)
    if (given?.aborted) pass()
    given?.addEventListener('abort', pass)
    this.signal = abort.signal
    const stop = moduleAccessOf(this.#client).emitter.on('goaway', ({ reason }) => {
      // The relay ends tokens for other reasons, too. The client then connects again.
      if (reason === 'jwt_revoked') return
      abort.abort(new ClientError('SIGNED_OUT', 'the relay has signed this client out'))
    })
    return () => {
      given?.removeEventListener('abort', pass)
      stop()
    }
  }

  /** Reports progress, and restarts the time-out of failures. */
  progress(doneBytes: number, totalBytes: number | undefined): void {
    this.#failingSince = undefined
    this.#backoff.reset()
    this.#onProgress?.({ doneBytes, totalBytes })
  }

  /**
   * Runs `work` with the session key, and then overwrites it. Says whether messages to this contact have
   * forward secrecy. @throws `KEY_CHANGED` if it is another key than before
   */
  async withKey<T>(work: (sessionKey: Uint8Array, hasForwardSecrecy: boolean) => Promise<T>): Promise<T> {
    throwIfAborted(this.signal)
    const { sessionKey, hasForwardSecrecy = false } = await this.persist(() => this.#pass())
    try {
      const hash = createBlobHash()
      hash.update(sessionKey)
      const keyHash = hash.digest().toString()
      this.#keyHash ??= keyHash
      if (this.#keyHash !== keyHash)
        throw new ClientError('KEY_CHANGED', 'the session was renewed during the transfer')
      return await work(sessionKey, hasForwardSecrecy)
    } finally {
      sessionKey.fill(0)
    }
  }

  /** Calls an endpoint, with the retries of `persist`. */
  call<E extends Endpoint>(endpoint: E, input: CallInput<E>): Promise<CallReply<E>> {
    return this.persist(() => orAborted(this.callToItsEnd(endpoint, input), this.signal))
  }

  /** Calls an endpoint as other modules do: with the usual few retries, and without regard to the signal. */
  async callToItsEnd<E extends Endpoint>(endpoint: E, input: CallInput<E>): Promise<CallReply<E>> {
    return readReply(endpoint, await moduleAccessOf(this.#client).request(requestOf(endpoint, input)))
  }

  /**
   * Sends a request with bytes and passes the answer to `read`, with the retries of `persist`.
   * @param before called before each retry; if it returns a result, no retry is needed
   */
  fetch<T>(
    request: BytesRequest,
    read: (answer: Answer) => Promise<T>,
    before?: () => Promise<T | undefined>,
  ): Promise<T> {
    let isFirst = true
    return this.persist(async () => {
      const known = isFirst ? undefined : await before?.()
      isFirst = false
      return known ?? (await this.#fetchOnce(request, read))
    })
  }

  async #fetchOnce<T>(request: BytesRequest, read: (answer: Answer) => Promise<T>): Promise<T> {
    const { method, path, headers = {}, body, silenceMs } = request
    const { clock, relayUrl, fetch } = this.platform
    const { sessionKey, token } = await this.#pass()
    sessionKey.fill(0)
    const abort = new AbortController()
    const end = (): void => abort.abort()
    let cancelTimeout = clock.after(silenceMs, end)
    const moved = (): void => {
      cancelTimeout()
      cancelTimeout = clock.after(silenceMs, end)
    }
    this.signal?.addEventListener('abort', end)
    try {
      throwIfAborted(this.signal)
      const response = await fetch(`${baseOf(relayUrl)}${path}`, {
        method,
        headers: { ...headers, authorization: `Bearer ${token}` },
        redirect: 'error',
        credentials: 'omit',
        signal: abort.signal,
        ...(body === undefined ? {} : { body }),
      })
      moved()
      if (response.ok) return await read({ response, moved })
      throw refusal(response, await readText(response, MAX_PROBLEM_BYTES))
    } catch (error) {
      if (error instanceof ClientError && error.retry === 'login') this.#deadToken = token
      if (error instanceof ClientError) throw error
      throwIfAborted(this.signal)
      throw new ClientError('NETWORK', `the relay at ${relayUrl.host} cannot be reached`, { cause: error })
    } finally {
      cancelTimeout()
      this.signal?.removeEventListener('abort', end)
      // Stops an answer that was not read completely.
      end()
    }
  }

  async #pass(): ReturnType<typeof mediaPassOf> {
    const deadToken = this.#deadToken
    const pass = await orAborted(mediaPassOf(this.#client, this.#contact, deadToken), this.signal)
    if (this.#deadToken === deadToken) this.#deadToken = undefined
    return pass
  }

  /** Retries `work` after temporary errors, until it succeeds or has failed for too long. */
  async persist<T>(work: () => Promise<T>): Promise<T> {
    const { clock } = this.platform
    let hasFreshToken = false
    for (;;) {
      throwIfAborted(this.signal)
      try {
        return await work()
      } catch (error) {
        if (!(error instanceof ClientError)) throw error
        const isDeadToken: boolean = error.retry === 'login' && !hasFreshToken
        hasFreshToken ||= isDeadToken
        const waitMs = isDeadToken ? 0 : this.#waitAfter(error)
        this.#failingSince ??= clock.now()
        if (waitMs === undefined || clock.now() + waitMs - this.#failingSince > PATIENCE_MS) throw error
        await delay(clock, waitMs, this.signal)
      }
    }
  }

  /**
   * How long to wait before a retry after this error; undefined if a retry cannot help, or not soon enough.
   */
  #waitAfter({ code, refusal, retry, retryAfterMs }: ClientError): number | undefined {
    if (code === 'NETWORK' || refusal === 'BODY_INCOMPLETE') return this.#backoff.nextMs()
    // Somebody has to make room first, so the caller learns it at once.
    if (refusal === 'RELAY_FULL') return undefined
    if (retry === 'after') {
      const waitMs = retryAfterMs ?? this.#backoff.nextMs()
      return waitMs <= MAX_WAIT_MS ? waitMs : undefined
    }
    const isTemporary =
      refusal === 'MEDIA_UNAVAILABLE' || refusal === 'INTERNAL' || refusal === 'SHUTTING_DOWN'
    return isTemporary ? this.#backoff.nextMs() : undefined
  }
}
