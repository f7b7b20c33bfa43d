// Wakes browsers by Web Push: RFC 8030, encrypted by RFC 8291, signed by RFC 8292.
import type { Limits } from '@sotto/protocol'
import type { Clock } from '../operations/clock.ts'
import type { RandomBytes } from '../operations/random.ts'
import { generatePrivateKey } from './p256.ts'
import { encryptPush } from './push-encryption.ts'
import { EndpointRefused, EndpointUnreachable, type PushEndpointRequests } from './push-endpoint-requests.ts'
import { type Outcome, outcomeOf, type PushService, type WakeKind, wakeTypes } from './push-service.ts'
import type { Subscription } from './subscriptions.ts'
import type { Vapid } from './vapid.ts'

/** What Web Push is built from. */
export interface WebPushParts {
  readonly endpointRequests: PushEndpointRequests
  readonly vapid: Vapid
  readonly limits: Limits
  readonly clock: Clock
  readonly randomBytes: RandomBytes
}

export class WebPush implements PushService {
  readonly #parts: WebPushParts

  constructor(parts: WebPushParts) {
    this.#parts = parts
  }

  async send(to: Subscription, kind: WakeKind, signal: AbortSignal): Promise<Outcome> {
    const { endpointRequests, vapid, limits, clock } = this.#parts
    const authorization = vapid.authorize(to.kid, new URL(to.target).origin)
    if (authorization === undefined) return { kind: 'gone' }
    const headers = {
      authorization,
      'content-encoding': 'aes128gcm',
      'content-type': 'application/octet-stream',
      ttl: String(kind === 'call' ? limits.pushCallLifeSeconds : limits.pushMessageLifeSeconds),
      // A push service that holds pushes for a device keeps only the newest of each topic. It can read the
      // topic.
      topic: kind,
      // Push services may hold pushes of lower urgency until the device is in use.
      urgency: 'high',
    }
    try {
      const { status, retryAfter } = await endpointRequests.post(
        to.target,
        { headers, body: this.#body(to, kind) },
        signal,
      )
      return outcomeOf(status, retryAfter, clock.now())
    } catch (error) {
      if (error instanceof EndpointRefused) return { kind: 'refused', reason: error.message }
      if (error instanceof EndpointUnreachable) return { kind: 'later', reason: error.message }
      throw error
    }
  }

  #body(to: Subscription, kind: WakeKind): Uint8Array<ArrayBuffer> {
    const { randomBytes } = this.#parts
    const keys = { p256dh: Buffer.from(to.p256dh, 'base64url'), auth: Buffer.from(to.auth, 'base64url') }
    const fresh = { privateKey: generatePrivateKey(randomBytes), salt: randomBytes(16) }
    return encryptPush(JSON.stringify({ type: wakeTypes[kind] }), keys, fresh)
  }
}
