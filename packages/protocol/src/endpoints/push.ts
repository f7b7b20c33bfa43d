// Endpoints of push, which wakes devices that are not connected.
import * as push from '../bodies/push.ts'
import { define, type Summaries } from './endpoint.ts'

export const pushEndpoints = define({
  pushVapidKey: {
    method: 'GET',
    path: '/push/vapid-key',
    auth: 'none',
    rate: 'pushKey',
    status: 200,
    reply: push.VapidKeyReply,
    errors: [],
  },
  pushSubscribe: {
    method: 'POST',
    path: '/push/subscribe',
    auth: 'account',
    rate: 'push',
    body: push.SubscribeBody,
    status: 200,
    adds: 'much',
    errors: [],
  },
  pushRegister: {
    method: 'POST',
    path: '/push/register',
    auth: 'account',
    rate: 'push',
    body: push.RegisterPushBody,
    status: 200,
    adds: 'much',
    errors: ['PUSH_UNAVAILABLE'],
  },
  pushDisable: {
    method: 'POST',
    path: '/push/disable',
    auth: 'account',
    rate: 'push',
    status: 200,
    errors: [],
  },
})

/** One line about each endpoint, for the documents. */
export const pushSummaries: Summaries<typeof pushEndpoints> = {
  pushVapidKey: 'The key that a browser subscribes with (`applicationServerKey`)',
  pushSubscribe: 'Subscribes a browser to Web Push; a browser of another account moves to the caller',
  pushRegister: 'Registers a device for Firebase Cloud Messaging, if the relay is set up for it',
  pushDisable: 'Ends all push subscriptions of the account',
}
