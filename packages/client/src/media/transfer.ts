// One upload or download on its way: goes on after cuts of the network and restarts of the relay, for as long as it gets anywhere.
import { createBlobHash } from '@sotto/crypto/blob-hash'
import type { Endpoint } from '@sotto/protocol'
import { ClientError, throwIfAborted } from '../client-error.ts'
import { Backoff, delay } from '../clock.ts'
import { type AnyClient, doorOf } from '../door.ts'
import { baseOf, readText, refusal, withRetryAfter } from '../http.ts'
import type { Platform } from '../options.ts'
import { type CallInput, type CallReply, type RelayRequest, readReply, requestOf } from '../relay-request.ts'
import { passThrough } from './pass.ts'

/** A transfer is given up that has been failing for this long, and got nowhere in between. */
const PATIENCE_MS = 120_000
/** A wait a relay asks for is waited out if it is at most this. */
const MAX_WAIT_MS = 60_000
const RETRY = { firstMs: 500, maxMs: 8000 }
const MAX_PROBLEM_BYTES = 64 * 1024

/** How far a transfer has come. */
export interface TransferProgress {
  /** Bytes of the file, not of what encrypting adds. */
  readonly doneBytes: number
  /** Undefined for a stream, whose end nobody knows. */
  readonly totalBytes: number | undefined
}

/** What a transfer can be watched and ended by. */
export interface TransferOptions {
  /** Hears how far it is, about every 5 MiB; from the beginning again where the relay has lost what was uploaded. */
  readonly onProgress?: (progress: TransferProgress) => void
  /** Ends the transfer, which then throws `ABORTED` and leaves nothing. */
  readonly signal?: AbortSignal
}

/** A request whose body or answer is bytes. */
export interface BytesRequest extends Pick<RelayRequest, 'method' | 'path'> {
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array<ArrayBuffer>
  /** After this long without a sign of the relay the request is given up. */
  readonly silenceMs: number
}

/** What is known of an answer while it is read. */
export interface Answer {
  readonly response: Response
  /** To be called whenever something came. */
  moved(): void
}

/** Moves one blob, in the name of one client, for one contact. */
export class Transfer {
  readonly platform: Omit<Platform, 'store'>
  readonly signal: AbortSignal | undefined
  readonly #client: AnyClient
  readonly #contact: string
  readonly #onProgress: TransferOptions['onProgress']
  readonly #backoff: Backoff
  /** Since when nothing but failures came. */
  #failingSince: number | undefined
  #deadToken: string | undefined
  #keyHash: string | undefined

  constructor(client: AnyClient, contact: string, { onProgress, signal }: TransferOptions) {
    this.platform = doorOf(client).platform
    this.signal = signal
    this.#client = client
    this.#contact = contact
    this.#onProgress = onProgress
    this.#backoff = new Backoff(this.platform.random, RETRY)
  }

  /** Says how far it is, and has another while of patience. */
  progress(doneBytes: number, totalBytes: number | undefined): void {
    this.#failingSince = undefined
    this.#backoff.reset()
    this.#onProgress?.({ doneBytes, totalBytes })
  }

  /** Works with the key of the session, which is overwritten afterwards. @throws `KEY_CHANGED` where it is another than before */
  async withKey<T>(work: (sessionKey: Uint8Array) => Promise<T>): Promise<T> {
    throwIfAborted(this.signal)
    const { sessionKey } = await this.persist(() => this.#pass())
    try {
      const hash = createBlobHash()
      hash.update(sessionKey)
      const keyHash = hash.digest().toString()
      this.#keyHash ??= keyHash
      if (this.#keyHash !== keyHash)
        throw new ClientError('KEY_CHANGED', 'the session was renewed while media were under way')
      return await work(sessionKey)
    } finally {
      sessionKey.fill(0)
    }
  }

  /** Calls an endpoint, for as long as there is patience. */
  call<E extends Endpoint>(endpoint: E, input: CallInput<E>): Promise<CallReply<E>> {
    return this.persist(() => this.orAborted(this.callToItsEnd(endpoint, input)))
  }

  /** Calls an endpoint as other modules do: with the few tries of any call, and whatever the signal says. */
  async callToItsEnd<E extends Endpoint>(endpoint: E, input: CallInput<E>): Promise<CallReply<E>> {
    return readReply(endpoint, await doorOf(this.#client).request(requestOf(endpoint, input)))
  }

  /**
   * Makes a request for bytes and has the answer read, for as long as there is patience.
   * @param before what is to be looked at before it is made once more, and may make that needless
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
      const problem = withRetryAfter(response, await readText(response, MAX_PROBLEM_BYTES))
      throw refusal(response.status, problem)
    } catch (error) {
      if (error instanceof ClientError && error.retry === 'login') this.#deadToken = token
      if (error instanceof ClientError) throw error
      throwIfAborted(this.signal)
      throw new ClientError('NETWORK', `the relay at ${relayUrl.host} cannot be reached`, { cause: error })
    } finally {
      cancelTimeout()
      this.signal?.removeEventListener('abort', end)
      // What is not read to its end must not go on coming.
      end()
    }
  }

  async #pass(): ReturnType<typeof passThrough> {
    const deadToken = this.#deadToken
    const pass = await this.orAborted(passThrough(this.#client, this.#contact, deadToken))
    if (this.#deadToken === deadToken) this.#deadToken = undefined
    return pass
  }

  /** Works until that succeeds: again after what passes, for as long as there is patience. */
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

  /** How long to wait before what failed is tried again; undefined where that cannot help, or not soon enough. */
  #waitAfter({ code, refusal, retry, retryAfterMs }: ClientError): number | undefined {
    if (code === 'NETWORK' || refusal === 'BODY_INCOMPLETE') return this.#backoff.nextMs()
    if (retry === 'after') {
      const waitMs = retryAfterMs ?? this.#backoff.nextMs()
      return waitMs <= MAX_WAIT_MS ? waitMs : undefined
    }
    const passes = refusal === 'MEDIA_UNAVAILABLE' || refusal === 'INTERNAL' || refusal === 'SHUTTING_DOWN'
    return passes ? this.#backoff.nextMs() : undefined
  }

  /** Waits no longer than the signal lets it: what is asked of a client cannot be ended. */
  orAborted<T>(work: Promise<T>): Promise<T> {
    const { signal } = this
    if (!signal) return work
    return new Promise((resolve, reject) => {
      const end = (): void => {
        try {
          throwIfAborted(signal)
        } catch (error) {
          reject(error)
        }
      }
      signal.addEventListener('abort', end)
      end()
      work.then(resolve, reject).finally(() => signal.removeEventListener('abort', end))
    })
  }
}
