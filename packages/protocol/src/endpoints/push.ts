// Endpoints of push: how a device that is not connected is woken.
import { Done } from '../bodies/channels.ts'
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
    reply: Done,
    errors: [],
  },
  pushRegister: {
    method: 'POST',
    path: '/push/register',
    auth: 'account',
    rate: 'push',
    body: push.RegisterPushBody,
    status: 200,
    reply: Done,
    errors: ['PUSH_UNAVAILABLE'],
  },
  pushDisable: {
    method: 'POST',
    path: '/push/disable',
    auth: 'account',
    rate: 'push',
    status: 200,
    reply: Done,
    errors: [],
  },
})

/** What each does, for the documents. */
export const pushSummaries: Summaries<typeof pushEndpoints> = {
  pushVapidKey: 'The key a browser subscribes with, `applicationServerKey`',
  pushSubscribe:
    'Has a browser woken by Web Push; one that was another account’s is the caller’s from now on',
  pushRegister: 'Has a device woken by Firebase Cloud Messaging, where the relay is set up for it',
  pushDisable: 'Has none of the account’s browsers and devices woken any more',
}
