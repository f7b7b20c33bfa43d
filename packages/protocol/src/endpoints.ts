// Every HTTP endpoint, by feature. The relay serves them, the client calls them, and the OpenAPI document is
// generated from them.
import type * as v from 'valibot'
import { accountEndpoints, accountSummaries } from './endpoints/accounts.ts'
import { callEndpoints, callSummaries } from './endpoints/calls.ts'
import { channelEndpoints, channelSummaries } from './endpoints/channels.ts'
import { conversationEndpoints, conversationSummaries } from './endpoints/conversations.ts'
import { friendEndpoints, friendSummaries } from './endpoints/friends.ts'
import { inviteEndpoints, inviteSummaries } from './endpoints/invites.ts'
import { keyPackageEndpoints, keyPackageSummaries } from './endpoints/key-packages.ts'
import { mediaEndpoints, mediaSummaries } from './endpoints/media.ts'
import { pushEndpoints, pushSummaries } from './endpoints/push.ts'
import { reportEndpoints, reportSummaries } from './endpoints/reports.ts'
import { vanityEndpoints, vanitySummaries } from './endpoints/vanity.ts'
import type { ErrorCode } from './errors.ts'

export { type Adds, API_BASE, type Endpoint } from './endpoints/endpoint.ts'
// Each feature's table is also exported separately, so that a client bundles only the endpoints it calls.
export {
  accountEndpoints,
  callEndpoints,
  channelEndpoints,
  conversationEndpoints,
  friendEndpoints,
  inviteEndpoints,
  keyPackageEndpoints,
  mediaEndpoints,
  pushEndpoints,
  reportEndpoints,
  vanityEndpoints,
}

/** Every endpoint under `/api/v1`, by name. */
export const endpoints = {
  ...accountEndpoints,
  ...conversationEndpoints,
  ...keyPackageEndpoints,
  ...friendEndpoints,
  ...channelEndpoints,
  ...vanityEndpoints,
  ...callEndpoints,
  ...pushEndpoints,
  ...mediaEndpoints,
  ...inviteEndpoints,
  ...reportEndpoints,
} as const

/** One line about each endpoint. */
export const endpointSummaries: Readonly<Record<EndpointName, string>> = {
  ...accountSummaries,
  ...conversationSummaries,
  ...keyPackageSummaries,
  ...friendSummaries,
  ...channelSummaries,
  ...vanitySummaries,
  ...callSummaries,
  ...pushSummaries,
  ...mediaSummaries,
  ...inviteSummaries,
  ...reportSummaries,
}

/**
 * What a suspended account can call: it reads and deletes what it has, and logs out. Separate from the table,
 * so that clients do not bundle it.
 */
export const suspendedMayCall: readonly EndpointName[] = [
  ...(['getMe', 'deleteMe', 'authLogout', 'authLogoutAll'] as const),
  ...(['listFriends', 'removeFriend', 'listBlocks', 'activeConversations'] as const),
  ...(['myChannels', 'getChannel', 'listPosts', 'deletePost', 'deleteChannel', 'unsubscribe'] as const),
  ...(['downloadMedia', 'storageEstimate', 'pushDisable', 'listOrders'] as const),
  ...(['listKeyPackages', 'deleteKeyPackages'] as const),
]

/** An endpoint's name. */
export type EndpointName = keyof typeof endpoints
type Table = typeof endpoints
/** The type of an endpoint's body; undefined if it has none. */
export type BodyOf<N extends EndpointName> = Table[N] extends { body: infer S extends v.GenericSchema }
  ? v.InferOutput<S>
  : undefined
/** The type of an endpoint's path parameters; undefined if it has none. */
export type ParamsOf<N extends EndpointName> = Table[N] extends { params: infer S extends v.GenericSchema }
  ? v.InferOutput<S>
  : undefined
/** The type of an endpoint's query; undefined if it has none. */
export type QueryOf<N extends EndpointName> = Table[N] extends { query: infer S extends v.GenericSchema }
  ? v.InferOutput<S>
  : undefined
/** The type of an endpoint's reply; undefined if it says nothing. */
export type ReplyOf<N extends EndpointName> = Table[N] extends { reply: infer S extends v.GenericSchema }
  ? v.InferOutput<S>
  : undefined

/** A problem document (RFC 9457) with one additional member, `error`. */
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
