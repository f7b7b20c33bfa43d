// Push: subscribes this browser to pushes for the account. push-worker.ts handles the pushes.
import { encodeBase64Url } from '@sotto/crypto'
import { pushEndpoints as endpoints } from '@sotto/protocol'
import { asClientError, ClientError } from '../client-error.ts'
import { type AnyClient, moduleAccessOf, requestThrough } from '../module-access.ts'
import { type Clock, deferred, SerialQueue } from '../platform/platform.ts'

/**
 * A browser that cannot reach its push service keeps trying and reports nothing, so it gets this time only.
 */
const BROWSER_PATIENCE_MS = 30_000

/** The part of a `PushSubscription` that is used. */
export interface PushSubscriptionLike {
  readonly options: { readonly applicationServerKey: ArrayBuffer | null }
  toJSON(): { readonly endpoint?: string; readonly keys?: Readonly<Record<string, string>> }
  unsubscribe(): Promise<boolean>
}

/** The part of a `ServiceWorkerRegistration` that is used. Browsers without push have no `pushManager`. */
export interface PushRegistration {
  readonly pushManager?: {
    getSubscription(): Promise<PushSubscriptionLike | null>
    subscribe(options: {
      readonly userVisibleOnly: true
      readonly applicationServerKey: string
    }): Promise<PushSubscriptionLike>
  }
}

/** The subscription of this browser, and its account. */
interface Subscribed {
  readonly account: string
  /** The browser's subscription now. */
  readonly current: () => Promise<PushSubscriptionLike | null | undefined>
  readonly endpoint: string
}

/** A subscription that is being registered. */
interface Registering {
  readonly account: string | undefined
  readonly subscription: PushSubscriptionLike
  readonly applicationServerKey: string | undefined
  readonly current: Subscribed['current']
}

/**
 * Wakes browsers by push for an account. Create it once per client: `const push = new Push(client)`. The push
 * service of the browser's vendor learns that there is something for this browser, and when. The browser
 * learns only whether it is a message or a call.
 *
 * Every method throws the errors of a call to the relay: `REFUSED` with the relay's code, `NETWORK`,
 * `NO_IDENTITY`.
 */
export class Push {
  readonly #client: AnyClient
  /** Ending the subscription of the previous account must not end the subscription of the next one. */
  readonly #queue = new SerialQueue()
  #subscribed: Subscribed | undefined

  /** @throws ClientError `INVALID_ARGUMENT` for what was not opened as a client */
  constructor(client: AnyClient) {
    this.#client = client
    const { emitter } = moduleAccessOf(client)
    emitter.on('identity_changed', ({ identity }) => {
      // A locked account is still the account of this device.
      if (client.isLocked) return
      this.#queue
        .run(() => this.#leave(identity?.signingPublicKey))
        .catch((error: unknown) => emitter.emit('error', asClientError(error, 'UNSUPPORTED')))
    })
  }

  /**
   * Subscribes this browser. Call it after the user has allowed notifications, and again whenever the app
   * starts: that takes two requests, and renews a subscription that the browser or a changed key of the relay
   * has ended. A browser belongs to one account; an account has at most five browsers. When the account is
   * deleted or erased, or another identity replaces it on this device, the browser is unsubscribed.
   * @throws ClientError `NOT_ALLOWED` if notifications are not allowed, `UNSUPPORTED` if the browser has no
   *   push or reaches no push service within 30 s
   */
  subscribe(registration: PushRegistration): Promise<void> {
    return this.#queue.run(() => this.#subscribe(registration))
  }

  /**
   * The relay's public key: the `applicationServerKey` for a subscription that the application makes itself,
   * in base64url.
   */
  async applicationServerKey(): Promise<string> {
    return (await requestThrough(this.#client, endpoints.pushVapidKey, {})).vapid_public_key
  }

  /**
   * Registers a subscription that the application made itself, with the key that it was made with. Without
   * the key, the one in the subscription's options counts. For the rest see `subscribe`.
   * @throws ClientError `INVALID_ARGUMENT` for a subscription that was not made for Web Push
   */
  register(subscription: PushSubscriptionLike, applicationServerKey?: string): Promise<void> {
    const key = applicationServerKey ?? (keyOf(subscription) || undefined)
    const current = async () => subscription
    return this.#queue.run(() =>
      this.#register({ account: this.#account, subscription, applicationServerKey: key, current }),
    )
  }

  /** Unsubscribes this browser. The relay notices it at its next push. */
  unsubscribe(registration: PushRegistration): Promise<void> {
    return this.#queue.run(() => this.#unsubscribe(async () => registration.pushManager?.getSubscription()))
  }

  /** Ends pushes to all browsers and devices of the account. */
  async disable(): Promise<void> {
    await requestThrough(this.#client, endpoints.pushDisable, {})
  }

  async #subscribe(registration: PushRegistration): Promise<void> {
    const account = this.#account
    const { pushManager } = registration
    if (!pushManager) throw new ClientError('UNSUPPORTED', 'this browser has no push')
    const applicationServerKey = await this.applicationServerKey()
    const { clock } = moduleAccessOf(this.#client).platform
    const subscription = await orUnsupported(clock, async () => {
      const before = await pushManager.getSubscription()
      if (before && keyOf(before) === applicationServerKey) return before
      // The subscription belongs to another relay, or to this relay's previous key. A browser has only one at
      // a time.
      await before?.unsubscribe()
      return pushManager.subscribe({ userVisibleOnly: true, applicationServerKey })
    })
    const current = () => pushManager.getSubscription()
    await this.#register({ account, subscription, applicationServerKey, current })
  }

  get #account(): string | undefined {
    return this.#client.identity?.signingPublicKey
  }

  async #register({ account, subscription, applicationServerKey, current }: Registering): Promise<void> {
    const { endpoint = '', keys = {} } = subscription.toJSON()
    const { p256dh = '', auth = '' } = keys
    if (account !== undefined) this.#subscribed = { account, current, endpoint }
    await requestThrough(this.#client, endpoints.pushSubscribe, {
      body: { endpoint, keys: { p256dh, auth }, vapid_public_key: applicationServerKey },
    })
  }

  async #unsubscribe(current: Subscribed['current'], endpoint?: string): Promise<void> {
    await orUnsupported(moduleAccessOf(this.#client).platform.clock, async () => {
      const subscription = await current()
      const isThisOne = endpoint === undefined || subscription?.toJSON().endpoint === endpoint
      if (isThisOne) await subscription?.unsubscribe()
    })
  }

  /**
   * Unsubscribes the browser if it belongs to another account. Keeps a subscription that another tab made
   * later.
   */
  async #leave(account: string | undefined): Promise<void> {
    if (!this.#subscribed || this.#subscribed.account === account) return
    await this.#unsubscribe(this.#subscribed.current, this.#subscribed.endpoint)
    this.#subscribed = undefined
  }
}

function keyOf({ options }: PushSubscriptionLike): string {
  return encodeBase64Url(new Uint8Array(options.applicationServerKey ?? new ArrayBuffer(0)))
}

async function orUnsupported<T>(clock: Clock, work: () => Promise<T>): Promise<T> {
  const late = deferred<never>()
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
