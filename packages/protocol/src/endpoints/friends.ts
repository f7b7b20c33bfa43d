// Endpoints of friends: requests, acceptance, blocks.
import * as friends from '../bodies/friends.ts'
import { define, type Summaries } from './endpoint.ts'

export const friendEndpoints = define({
  listFriends: {
    method: 'GET',
    path: '/friends',
    auth: 'account',
    rate: 'read',
    query: friends.FriendListQuery,
    status: 200,
    reply: friends.FriendList,
    errors: [],
  },
  requestFriend: {
    method: 'POST',
    path: '/friends/request',
    auth: 'account',
    rate: 'friendRequest',
    body: friends.FriendRequestBody,
    status: 200,
    reply: friends.FriendRequestReply,
    adds: 'little',
    errors: [
      'NOT_FOUND',
      'SELF_REQUEST',
      'ALREADY_FRIENDS',
      'UNBLOCK_FIRST',
      'TOO_MANY_FRIENDS',
      'REQUESTS_FULL',
    ],
  },
  acceptFriend: {
    method: 'PUT',
    alsoMethod: 'POST',
    path: '/friends/{id}/accept',
    auth: 'account',
    rate: 'write',
    params: friends.FriendPath,
    status: 200,
    reply: friends.FriendAcceptReply,
    adds: 'little',
    errors: ['NOT_FOUND', 'TOO_MANY_FRIENDS'],
  },
  rejectFriend: {
    method: 'POST',
    path: '/friends/{id}/reject',
    auth: 'account',
    rate: 'write',
    params: friends.FriendPath,
    status: 204,
    errors: ['NOT_FOUND'],
  },
  removeFriend: {
    method: 'DELETE',
    path: '/friends/{id}',
    auth: 'account',
    rate: 'write',
    params: friends.FriendPath,
    status: 204,
    errors: ['NOT_FOUND'],
  },
  block: {
    method: 'PUT',
    path: '/blocks/{alias_id}',
    auth: 'account',
    rate: 'lookup', // Its answer tells whether the alias exists, as a lookup does.
    params: friends.AliasPath,
    status: 204,
    errors: ['NOT_FOUND', 'SELF_REQUEST', 'TOO_MANY_FRIENDS'],
  },
  unblock: {
    method: 'DELETE',
    path: '/blocks/{alias_id}',
    auth: 'account',
    rate: 'write',
    params: friends.AliasPath,
    status: 204,
    errors: ['NOT_FOUND'],
  },
  listBlocks: {
    method: 'GET',
    path: '/blocks',
    auth: 'account',
    rate: 'read',
    status: 200,
    reply: friends.BlockList,
    errors: [],
  },
})

/** One line about each endpoint, for the documents. */
export const friendSummaries: Summaries<typeof friendEndpoints> = {
  listFriends: 'Friends, and sent and received requests, in pages if `limit` or `after` is given',
  requestFriend: 'Requests a friendship; this accepts a request from the same account',
  acceptFriend: 'Accepts a request to the caller',
  rejectFriend: 'Rejects a request to the caller; the requester is not told',
  removeFriend: 'Ends a friendship, or withdraws a request',
  block: 'Blocks an account',
  unblock: 'Lifts a block; an alias that is not blocked, or does not exist, answers the same',
  listBlocks: 'The accounts that the caller has blocked',
}
