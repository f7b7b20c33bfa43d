// Push: has this browser woken while no page of the app is open. What the woken does is in push-worker.ts.
import { encodeBase64Url } from '@sotto/crypto'
import { pushEndpoints as endpoints } from '@sotto/protocol'
import { asClientError, ClientError } from '../client-error.ts'
import { type AnyClient, callThrough, doorOf } from '../door.ts'
import type { Clock } from '../options.ts'
import { Turns } from '../turns.ts'

/** Browsers that cannot reach their push service go on trying, and say nothing meanwhile. */
const BROWSER_PATIENCE_MS = 30_000

/** The part of a `PushSubscription` that is used. */
export interface PushSubscriptionLike {
  readonly options: { readonly applicationServerKey: ArrayBuffer | null }
  toJSON(): { readonly endpoint?: string; readonly keys?: Readonly<Record<string, string>> }
  unsubscribe(): Promise<boolean>
}

/** The part of a `ServiceWorkerRegistration` that is used. Browsers that know no push have no `pushManager`. */
export interface PushRegistration {
  readonly pushManager?: {
    getSubscription(): Promise<PushSubscriptionLike | null>
    subscribe(options: {
      readonly userVisibleOnly: true
      readonly applicationServerKey: string
    }): Promise<PushSubscriptionLike>
  }
}

/** A browser that was subscribed, and for whom. */
interface Subscribed {
  readonly account: string
  readonly registration: PushRegistration
  readonly endpoint: string
}

/**
 * Has browsers woken for an account: `const push = new Push(client)`, once for a client. The push service of the browser's maker learns that
 * there is something, and when; the browser is told that it is a message or a call, and nothing else.
 *
 * Every method throws what a call of the relay may: `REFUSED` with the relay's code, `NETWORK`, `NO_IDENTITY`.
 */
export class Push {
  readonly #client: AnyClient
  /** What is undone for the account before must not undo what is done for the next. */
  readonly #turns = new Turns()
  #subscribed: Subscribed | undefined

  /** @throws ClientError `INVALID_ARGUMENT` for what was not opened as a client */
  constructor(client: AnyClient) {
    this.#client = client
    const { emitter } = doorOf(client)
    emitter.on('identity_changed', ({ identity }) => {
      // Put away, it is still the account of this device.
      if (client.isLocked) return
      this.#turns
        .take(() => this.#leave(identity?.signingPublicKey))
        .catch((error: unknown) => emitter.emit('error', asClientError(error, 'UNSUPPORTED')))
    })
  }

  /**
   * Has this browser woken from now on. To be called after the user has allowed notifications, and again whenever the app
   * starts: that costs two requests, and mends what a browser or a relay with another key has ended. A browser is one
   * account's; an account has five at most. When the account is deleted or another takes its place on this device, the
   * browser is woken no more.
   * @throws ClientError `NOT_ALLOWED` where notifications are not, `UNSUPPORTED` where the browser knows no push or
   *   reaches no push service within 30 s
   */
  subscribe(registration: PushRegistration): Promise<void> {
    return this.#turns.take(() => this.#subscribe(registration))
  }

  /** Has this browser woken no more. The relay learns it when it next tries. */
  unsubscribe(registration: PushRegistration): Promise<void> {
    return this.#turns.take(() => this.#unsubscribe(registration))
  }

  /** Has none of the account's browsers and devices woken any more. */
  async disable(): Promise<void> {
    await callThrough(this.#client, endpoints.pushDisable, {})
  }

  async #subscribe(registration: PushRegistration): Promise<void> {
    const account = this.#client.identity?.signingPublicKey
    const { pushManager } = registration
    if (!pushManager) throw new ClientError('UNSUPPORTED', 'this browser knows no push')
    const { vapid_public_key: applicationServerKey } = await callThrough(
      this.#client,
      endpoints.pushVapidKey,
      {},
    )
    const { clock } = doorOf(this.#client).platform
    const subscription = await orUnsupported(clock, async () => {
      const before = await pushManager.getSubscription()
      if (before && keyOf(before) === applicationServerKey) return before
      // Of another relay, or made before this one got another key: the browser makes no second one beside it.
      await before?.unsubscribe()
      return pushManager.subscribe({ userVisibleOnly: true, applicationServerKey })
    })
    const { endpoint = '', keys = {} } = subscription.toJSON()
    const { p256dh = '', auth = '' } = keys
    if (account !== undefined) this.#subscribed = { account, registration, endpoint }
    await callThrough(this.#client, endpoints.pushSubscribe, { body: { endpoint, keys: { p256dh, auth } } })
  }

  async #unsubscribe({ pushManager }: PushRegistration, endpoint?: string): Promise<void> {
    await orUnsupported(doorOf(this.#client).platform.clock, async () => {
      const subscription = await pushManager?.getSubscription()
      const isMeant = endpoint === undefined || subscription?.toJSON().endpoint === endpoint
      if (isMeant) await subscription?.unsubscribe()
    })
  }

  /** Unsubscribes the browser, unless it was for `account`. What another tab has subscribed since is not touched. */
  async #leave(account: string | undefined): Promise<void> {
    if (!this.#subscribed || this.#subscribed.account === account) return
    await this.#unsubscribe(this.#subscribed.registration, this.#subscribed.endpoint)
    this.#subscribed = undefined
  }
}

function keyOf({ options }: PushSubscriptionLike): string {
  return encodeBase64Url(new Uint8Array(options.applicationServerKey ?? new ArrayBuffer(0)))
}

async function orUnsupported<T>(clock: Clock, work: () => Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>()
  const cancel = clock.after(BROWSER_PATIENCE_MS, () => late.reject(new Error('no answer in time')))
  try {
    return await Promise.race([work(), late.promise])
  } catch (cause) {
    const isRefused = cause instanceof DOMException && cause.name === 'NotAllowedError'
    if (isRefused) throw new ClientError('NOT_ALLOWED', 'notifications are not allowed here', { cause })
    throw new ClientError('UNSUPPORTED', 'the browser reaches no push service', { cause })
  } finally {
    cancel()
  }
}
