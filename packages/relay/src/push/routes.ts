// The endpoints of push.
import { type Limits, ProtocolError, type SubscribeBody } from '@sotto/protocol'
import type { Handlers } from '../listener/route.ts'
import type { Clock } from '../operations/clock.ts'
import type { Storage } from '../storage/storage.ts'
import { isPublicKey } from './p256.ts'
import { EndpointRefused, type PushEndpointRequests } from './push-endpoint-requests.ts'
import { disablePush, type NewTarget, subscribe } from './subscriptions.ts'
import type { Vapid } from './vapid.ts'
import type { WakeDecisions } from './wake-decisions.ts'

/** What the push endpoints are built from. */
export interface PushRouteParts {
  readonly storage: Storage
  readonly clock: Clock
  readonly limits: Limits
  readonly vapid: Vapid
  readonly endpointRequests: PushEndpointRequests
  readonly wakeDecisions: WakeDecisions
  /** The host of Firebase Cloud Messaging's API; undefined if FCM is not set up. */
  readonly fcmHost: string | undefined
}

type Names = 'pushVapidKey' | 'pushSubscribe' | 'pushRegister' | 'pushDisable'

export function pushRoutes(parts: PushRouteParts): Handlers<Names> {
  const { storage, vapid, wakeDecisions, fcmHost } = parts
  return {
    pushVapidKey: async () => ({ vapid_public_key: vapid.publicKey }),

    pushSubscribe: async ({ caller, body }) => {
      const target = browserOf(body, parts)
      await storage.transaction((sql) => subscribe(sql, caller.id, target, parts))
      wakeDecisions.subscribed(caller.id)
    },

    pushRegister: async ({ caller, body }) => {
      if (fcmHost === undefined) throw new ProtocolError('PUSH_UNAVAILABLE')
      const keys = { p256dh: '', auth: '', kid: '', isKidKnown: true }
      const target: NewTarget = { kind: 'fcm', target: body.token, ...keys, host: fcmHost }
      await storage.transaction((sql) => subscribe(sql, caller.id, target, parts))
      wakeDecisions.subscribed(caller.id)
    },

    pushDisable: async ({ caller }) => {
      await storage.transaction((sql) => disablePush(sql, caller.id))
    },
  }
}

/** @throws ProtocolError `INVALID_FIELD` if the endpoint is not allowed or the key is not valid */
function browserOf(
  { endpoint, keys, vapid_public_key: named }: SubscribeBody,
  { endpointRequests, vapid }: PushRouteParts,
): NewTarget {
  const kid = named === undefined ? vapid.kid : vapid.findKid(named)
  if (kid === undefined)
    throw new ProtocolError('INVALID_FIELD', {
      field: 'vapid_public_key',
      rule: 'must be a key of this relay',
    })
  try {
    const url = endpointRequests.parse(endpoint)
    url.hash = ''
    if (!isPublicKey(Buffer.from(keys.p256dh, 'base64url')))
      throw new ProtocolError('INVALID_FIELD', { field: 'keys.p256dh', rule: 'must be a point on P-256' })
    // Stored in the form that is requested, so that one browser has one row even if its URL is written
    // differently.
    const { href: target, hostname: host } = url
    return {
      kind: 'web',
      target,
      p256dh: keys.p256dh,
      auth: keys.auth,
      kid,
      host,
      isKidKnown: named !== undefined,
    }
  } catch (error) {
    if (!(error instanceof EndpointRefused)) throw error
    throw new ProtocolError('INVALID_FIELD', { field: 'endpoint', rule: error.message })
  }
}
