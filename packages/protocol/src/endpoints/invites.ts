// Endpoints of the invites that members make.
import * as invites from '../bodies/invites.ts'
import { define, type Summaries } from './endpoint.ts'

export const inviteEndpoints = define({
  listInvites: {
    method: 'GET',
    path: '/invites',
    auth: 'account',
    rate: 'read',
    status: 200,
    reply: invites.OwnInvites,
    errors: [],
  },
  makeInvite: {
    method: 'POST',
    path: '/invites',
    auth: 'account',
    rate: 'write',
    status: 200,
    reply: invites.MadeInvite,
    notIdempotent: true,
    adds: 'little',
    errors: ['TOO_MANY_INVITES'],
  },
  revokeInvite: {
    method: 'DELETE',
    path: '/invites/{id}',
    auth: 'account',
    rate: 'write',
    params: invites.InvitePath,
    status: 200,
    errors: ['NOT_FOUND'],
  },
})

/** One line about each endpoint, for the documents. */
export const inviteSummaries: Summaries<typeof inviteEndpoints> = {
  listInvites: 'The invites that the caller has made, newest first, and how many more it can make',
  makeInvite: 'Makes an invite with which one person can register; only this reply has its code',
  revokeInvite: 'Makes an invite of the caller useless; repeating it changes nothing',
}
