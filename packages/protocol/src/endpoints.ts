// Every HTTP endpoint: path, who may call it, its rate, body, reply and errors, in one place. The relay serves
// them, the client calls them, and the OpenAPI document is made from them.
import type * as v from 'valibot'
import * as accounts from './bodies/accounts.ts'
import * as channels from './bodies/channels.ts'
import * as friends from './bodies/friends.ts'
import * as vanity from './bodies/vanity.ts'
import type { ErrorCode } from './errors.ts'
import type { LimitName, RateName } from './limits.ts'

/** One endpoint, as data. */
export interface Endpoint {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** A method published clients use for the same thing. */
  readonly alsoMethod?: 'POST'
  /** Under `/api/v1`; `{name}` is a parameter of `params`. */
  readonly path: string
  readonly auth: 'none' | 'account'
  readonly rate: RateName
  readonly params?: v.GenericSchema<unknown, Record<string, unknown>>
  /** What may stand behind `?`; everything in it is text, and optional. */
  readonly query?: v.GenericSchema<unknown, Record<string, unknown>>
  readonly body?: v.GenericSchema
  /** Where a body may be larger than `bodyBytes`: by six times this limit, for what JSON can make of it. */
  readonly largeBody?: LimitName
  readonly status: 200 | 201 | 204
  readonly reply?: v.GenericSchema
  /** Codes it answers besides those any endpoint can. */
  readonly errors: readonly ErrorCode[]
  readonly summary: string
}

/** The prefix of every endpoint's path. */
export const API_BASE = '/api/v1'

function define<const T extends Record<string, Endpoint>>(table: T): T {
  return table
}

/** Every endpoint under `/api/v1`, by name. */
export const endpoints = define({
  powChallenge: {
    method: 'POST',
    path: '/pow/challenge',
    auth: 'none',
    rate: 'pow',
    status: 200,
    reply: accounts.PowChallengeReply,
    errors: [],
    summary: 'A challenge to solve before registering',
  },
  register: {
    method: 'POST',
    path: '/register',
    auth: 'none',
    rate: 'register',
    body: accounts.RegisterBody,
    status: 201,
    reply: accounts.RegisterReply,
    errors: ['ACCOUNT_EXISTS', 'POW_REQUIRED', 'POW_INVALID'],
    summary: 'Registers a pair of public keys; a registered one answers 409 with its account',
  },
  authChallenge: {
    method: 'POST',
    path: '/auth/challenge',
    auth: 'none',
    rate: 'login',
    body: accounts.AuthChallengeBody,
    status: 200,
    reply: accounts.AuthChallengeReply,
    errors: [],
    summary: 'A challenge to sign; an unknown uuid gets one too',
  },
  authVerify: {
    method: 'POST',
    path: '/auth/verify',
    auth: 'none',
    rate: 'login',
    body: accounts.AuthVerifyBody,
    status: 200,
    reply: accounts.AuthVerifyReply,
    errors: ['CHALLENGE_INVALID', 'SIGNATURE_INVALID'],
    summary: 'Exchanges a signed challenge for a token',
  },
  authLogout: {
    method: 'POST',
    path: '/auth/logout',
    auth: 'account',
    rate: 'write',
    status: 204,
    errors: [],
    summary: 'Kills the token at once, and its WebSocket',
  },
  wsTicket: {
    method: 'POST',
    path: '/ws/ticket',
    auth: 'account',
    rate: 'write',
    status: 200,
    reply: accounts.WsTicketReply,
    errors: [],
    summary: 'A ticket that opens one WebSocket',
  },
  getMe: {
    method: 'GET',
    path: '/me',
    auth: 'account',
    rate: 'read',
    status: 200,
    reply: accounts.Me,
    errors: [],
    summary: 'One’s own account',
  },
  patchMe: {
    method: 'PATCH',
    path: '/me',
    auth: 'account',
    rate: 'write',
    body: accounts.PatchMeBody,
    status: 200,
    reply: accounts.Me,
    errors: [],
    summary: 'Changes one’s nickname',
  },
  deleteMe: {
    method: 'DELETE',
    path: '/me',
    auth: 'account',
    rate: 'write',
    status: 204,
    errors: [],
    summary: 'Deletes one’s account; its uuid and aliases are never given out again',
  },
  lookUpUser: {
    method: 'GET',
    path: '/users/{alias_id}',
    auth: 'account',
    rate: 'lookup',
    params: friends.AliasPath,
    status: 200,
    reply: accounts.UserLookup,
    errors: ['NOT_FOUND'],
    summary: 'The public keys and nickname behind an alias',
  },
  activeConversations: {
    method: 'GET',
    path: '/conversations/active',
    auth: 'account',
    rate: 'read',
    status: 200,
    reply: accounts.ActiveConversationsReply,
    errors: [],
    summary: 'The conversations one can write in',
  },
  listFriends: {
    method: 'GET',
    path: '/friends',
    auth: 'account',
    rate: 'read',
    status: 200,
    reply: friends.FriendList,
    errors: [],
    summary: 'Friends, and requests sent and received',
  },
  requestFriend: {
    method: 'POST',
    path: '/friends/request',
    auth: 'account',
    rate: 'friendRequest',
    body: friends.FriendRequestBody,
    status: 200,
    reply: friends.FriendRequestReply,
    errors: ['NOT_FOUND', 'SELF_REQUEST', 'ALREADY_FRIENDS', 'UNBLOCK_FIRST', 'TOO_MANY_FRIENDS'],
    summary: 'Asks for friendship; asking someone who has asked accepts',
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
    errors: ['NOT_FOUND', 'TOO_MANY_FRIENDS'],
    summary: 'Accepts a request made to the caller',
  },
  rejectFriend: {
    method: 'POST',
    path: '/friends/{id}/reject',
    auth: 'account',
    rate: 'write',
    params: friends.FriendPath,
    status: 204,
    errors: ['NOT_FOUND'],
    summary: 'Rejects a request made to the caller; the requester is told nothing',
  },
  removeFriend: {
    method: 'DELETE',
    path: '/friends/{id}',
    auth: 'account',
    rate: 'write',
    params: friends.FriendPath,
    status: 204,
    errors: ['NOT_FOUND'],
    summary: 'Ends a friendship, or takes back a request',
  },
  block: {
    method: 'PUT',
    path: '/blocks/{alias_id}',
    auth: 'account',
    rate: 'write',
    params: friends.AliasPath,
    status: 204,
    errors: ['NOT_FOUND', 'SELF_REQUEST', 'TOO_MANY_FRIENDS'],
    summary: 'Blocks an account',
  },
  unblock: {
    method: 'DELETE',
    path: '/blocks/{alias_id}',
    auth: 'account',
    rate: 'write',
    params: friends.AliasPath,
    status: 204,
    errors: ['NOT_FOUND'],
    summary: 'Lifts a block',
  },
  listBlocks: {
    method: 'GET',
    path: '/blocks',
    auth: 'account',
    rate: 'read',
    status: 200,
    reply: friends.BlockList,
    errors: [],
    summary: 'The accounts one has blocked',
  },
  searchChannels: {
    method: 'GET',
    path: '/channels/search',
    auth: 'account',
    rate: 'search',
    query: channels.ChannelSearchQuery,
    status: 200,
    reply: channels.ChannelList,
    errors: [],
    summary:
      'Public channels whose name or description has all words of `q`, the best first; none for no words',
  },
  myChannels: {
    method: 'GET',
    path: '/channels/mine',
    auth: 'account',
    rate: 'read',
    status: 200,
    reply: channels.ChannelList,
    errors: [],
    summary: 'The channels one owns or is subscribed to',
  },
  createChannel: {
    method: 'POST',
    path: '/channels',
    auth: 'account',
    rate: 'write',
    body: channels.CreateChannelBody,
    status: 200,
    reply: channels.CreateChannelReply,
    errors: ['QUOTA_EXCEEDED'],
    summary: 'Makes a channel on one of one’s seats',
  },
  getChannel: {
    method: 'GET',
    path: '/channels/{id}',
    auth: 'account',
    rate: 'read',
    params: channels.ChannelPath,
    status: 200,
    reply: channels.ChannelInfo,
    errors: ['NOT_FOUND'],
    summary: 'A channel, and what one is to it. Whoever has the id of one that is not public was given it',
  },
  patchChannel: {
    method: 'PATCH',
    path: '/channels/{id}',
    auth: 'account',
    rate: 'write',
    params: channels.ChannelPath,
    body: channels.PatchChannelBody,
    status: 200,
    reply: channels.ChannelInfo,
    errors: ['NOT_FOUND', 'NOT_CHANNEL_OWNER'],
    summary: 'Changes what is given of a channel; its owner only',
  },
  deleteChannel: {
    method: 'DELETE',
    path: '/channels/{id}',
    auth: 'account',
    rate: 'write',
    params: channels.ChannelPath,
    status: 204,
    errors: ['NOT_FOUND', 'NOT_CHANNEL_OWNER'],
    summary: 'Deletes a channel and its posts, and frees its seat; its owner only',
  },
  subscribe: {
    method: 'POST',
    path: '/channels/{id}/subscribe',
    auth: 'account',
    rate: 'write',
    params: channels.ChannelPath,
    status: 200,
    reply: channels.Done,
    errors: ['NOT_FOUND', 'TOO_MANY_SUBSCRIPTIONS'],
    summary: 'Subscribes to a channel; twice changes nothing',
  },
  unsubscribe: {
    method: 'DELETE',
    path: '/channels/{id}/subscribe',
    auth: 'account',
    rate: 'write',
    params: channels.ChannelPath,
    status: 200,
    reply: channels.Done,
    errors: ['NOT_FOUND'],
    summary: 'Ends a subscription; twice changes nothing',
  },
  listPosts: {
    method: 'GET',
    path: '/channels/{id}/posts',
    auth: 'account',
    rate: 'history',
    params: channels.ChannelPath,
    query: channels.ChannelPostsQuery,
    status: 200,
    reply: channels.ChannelPostList,
    errors: ['NOT_FOUND'],
    summary: 'Posts of a channel, the newest first, before one of them if told; a page of none is the end',
  },
  createPost: {
    method: 'POST',
    path: '/channels/{id}/posts',
    auth: 'account',
    rate: 'post',
    params: channels.ChannelPath,
    body: channels.CreatePostBody,
    largeBody: 'postBytes',
    status: 200,
    reply: channels.CreatePostReply,
    errors: ['NOT_FOUND', 'NOT_CHANNEL_OWNER'],
    summary: 'Posts to a channel, and to everybody subscribed who is there; its owner only',
  },
  deletePost: {
    method: 'DELETE',
    path: '/channels/{id}/posts/{post_id}',
    auth: 'account',
    rate: 'write',
    params: channels.ChannelPostPath,
    status: 204,
    errors: ['NOT_FOUND', 'NOT_CHANNEL_OWNER'],
    summary: 'Deletes a post; the channel’s owner only',
  },
  listChannel: {
    method: 'POST',
    path: '/vanity/list-channel',
    auth: 'account',
    rate: 'write',
    body: channels.ListChannelBody,
    status: 200,
    reply: channels.Done,
    errors: ['NOT_FOUND', 'NOT_CHANNEL_OWNER'],
    summary: 'Offers a channel for sale, or changes its price; its owner only',
  },
  unlistChannel: {
    method: 'DELETE',
    path: '/channels/{id}/listing',
    auth: 'account',
    rate: 'write',
    params: channels.ChannelPath,
    status: 204,
    errors: ['NOT_FOUND', 'NOT_CHANNEL_OWNER'],
    summary: 'Takes a channel off sale; its owner only',
  },
  searchVanity: {
    method: 'GET',
    path: '/vanity/search',
    auth: 'none',
    rate: 'shop',
    query: vanity.VanitySearchQuery,
    status: 200,
    reply: vanity.VanityItemList,
    errors: [],
    summary: 'Ids that can be bought: those put forward, or those that begin with `q`',
  },
})

/** An endpoint's name. */
export type EndpointName = keyof typeof endpoints
type Table = typeof endpoints
/** What an endpoint takes as its body; undefined where it takes none. */
export type BodyOf<N extends EndpointName> = Table[N] extends { body: infer S extends v.GenericSchema }
  ? v.InferOutput<S>
  : undefined
/** What an endpoint's path parameters are; undefined where it has none. */
export type ParamsOf<N extends EndpointName> = Table[N] extends { params: infer S extends v.GenericSchema }
  ? v.InferOutput<S>
  : undefined
/** What an endpoint's query is; undefined where it has none. */
export type QueryOf<N extends EndpointName> = Table[N] extends { query: infer S extends v.GenericSchema }
  ? v.InferOutput<S>
  : undefined
/** What an endpoint answers; undefined where it answers 204. */
export type ReplyOf<N extends EndpointName> = Table[N] extends { reply: infer S extends v.GenericSchema }
  ? v.InferOutput<S>
  : undefined

/** A problem document (RFC 9457) with Sotto's one extra member, `error`. */
export interface ProblemDocument {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly error: ErrorCode
  readonly detail?: string
  readonly field?: string
  readonly limit?: string
  readonly uuid?: string
  readonly alias_id?: string
}
