// The methods that one tab can ask another to run: the client's own, each with its schemas, and three for
// tabs only.
import { accountEndpoints, FriendProfile, FriendshipStatus, friendEndpoints } from '@sotto/protocol'
import * as v from 'valibot'
import type { SottoClient } from '../client.ts'
import { mediaPassOf } from '../media/media.ts'
import { moduleAccessOf } from '../module-access.ts'
import { ConversationSettings, publicPart, StoredMessage, TrustState } from '../stores/stores.ts'
import { type AnyTabMethod, type MethodDescription, type TabMethod, tabMethod } from '../tab-method.ts'
import { RelayRequest } from '../wire/wire.ts'
import { PublicIdentity } from './carried-events.ts'

/**
 * The members that a `SharedClient` writes out itself. The first four are values that every tab holds. The
 * others belong to the tab that calls them: each has its own handlers, and the user's secrets never cross
 * from one tab to another.
 */
export type OwnName =
  | 'identity'
  | 'networkState'
  | 'isLocked'
  | 'isSealed'
  | 'hasPassphrase'
  | 'on'
  | 'events'
  | 'close'
  | 'create'
  | 'recover'
  | 'unlock'
  | 'setPassphrase'
  | 'checkPassphrase'
  | 'recoveryPhrase'
  | 'syncIdentity'
/**
 * The methods of a `SottoClient` that run in the leader tab. A new method of the client is one of them by
 * default.
 */
export type ClientMethodName = Exclude<keyof SottoClient, OwnName>

type Parameter = { readonly [N in ClientMethodName]: Parameters<SottoClient[N]> }
type Answer = { readonly [N in ClientMethodName]: Awaited<ReturnType<SottoClient[N]>> }
type Descriptions = { readonly [N in ClientMethodName]: MethodDescription<Parameter[N], Answer[N]> }
/** A client, in the form in which the compiler can match a method with its parameters. */
type Callable = {
  readonly [N in ClientMethodName]: (...args: Parameter[N]) => Answer[N] | Promise<Answer[N]>
}

const Nothing = v.tuple([])
const Contact = v.tuple([v.string()])
const ContactAndText = v.tuple([v.string(), v.string()])
const FriendshipId = v.tuple([v.number()])
const Done = v.void()
const Friends = v.pipe(v.array(FriendProfile), v.readonly())
const Messages = v.pipe(v.array(StoredMessage), v.readonly())
const Account = v.object({ aliasId: v.string(), nickname: v.string() })
const SecurityCode = v.object({ contactId: v.string(), displayCode: v.string(), fingerprintHex: v.string() })
const Conversation = v.object({
  ...ConversationSettings.entries,
  contactId: v.string(),
  nickname: v.string(),
  isFriend: v.boolean(),
  isVerified: v.boolean(),
  hasForwardSecrecy: v.boolean(),
  isLowered: v.exactOptional(v.literal(true)),
  unread: v.number(),
  firstUnreadSeq: v.exactOptional(v.number()),
  lastMessage: v.union([StoredMessage, v.undefined()]),
  heldBy: v.exactOptional(v.string()),
  changedCode: v.exactOptional(v.string()),
  renewedAt: v.exactOptional(v.number()),
})
const Range = v.union([
  v.strictObject({ aroundSeq: v.number(), limit: v.number() }),
  v.object({
    afterSeq: v.exactOptional(v.number()),
    beforeSeq: v.exactOptional(v.number()),
    limit: v.exactOptional(v.number()),
    take: v.exactOptional(v.picklist(['latest', 'earliest'])),
  }),
])
const Reply = { replyToId: v.optional(v.string()) }
const Content = v.union([
  v.string(),
  v.object({ kind: v.exactOptional(v.literal('text')), text: v.string(), ...Reply }),
  v.object({
    kind: v.literal('image'),
    mediaKey: v.string(),
    width: v.exactOptional(v.number()),
    height: v.exactOptional(v.number()),
    sizeBytes: v.exactOptional(v.number()),
    thumbnail: v.exactOptional(v.string()),
    previewKey: v.exactOptional(v.string()),
    words: v.exactOptional(v.string()),
    ...Reply,
  }),
  v.object({
    kind: v.literal('file'),
    mediaKey: v.string(),
    name: v.string(),
    sizeBytes: v.number(),
    words: v.exactOptional(v.string()),
    ...Reply,
  }),
  v.object({
    kind: v.literal('voice'),
    mediaKey: v.string(),
    durationMs: v.number(),
    waveform: v.exactOptional(v.pipe(v.array(v.number()), v.readonly())),
    ...Reply,
  }),
])
const MediaPass = v.object({
  sessionKey: v.instance(Uint8Array),
  token: v.string(),
  // A tab with an earlier version of the application does not say it.
  hasForwardSecrecy: v.optional(v.boolean()),
})
const SendOptions = v.object({
  replyToId: v.exactOptional(v.string()),
  endsDraft: v.exactOptional(v.boolean()),
  id: v.string(),
})

/**
 * Every method of the client that a tab can request. The leader tab may be gone before it answers. The next
 * leader tab is then asked, and does not know how far the first one got. So every method can run twice:
 *
 * | Method | The second time |
 * |---|---|
 * | `send` | answers the stored message: the requesting tab chose its id |
 * | `retract` | answers the message as retracted |
 * | `markRead` | also marks the messages that arrived since the first time |
 * | `notifyTyping` | sends a second notice; notices mean nothing after a moment |
 * | `connect`, `disconnect`, `lock` | changes nothing |
 * | `restore`, `syncFriends`, `lookUpUser` and all that only read | reads again |
 * | `setNickname` | sets the same |
 * | `logOutEverywhere` | logs out again |
 * | `logOut` | changes nothing; `NO_IDENTITY` is answered as done |
 * | `requestFriend` | the relay answers with the existing request; `ALREADY_FRIENDS` is answered as `accepted` |
 * | `acceptFriend`, `rejectFriend`, `block`, `unblock` | the relay answers that nothing changed |
 * | `removeFriend` | the relay's `NOT_FOUND` is answered as done |
 * | `markVerified`, `verifySecurityCode`, `resetTrust` | sets the same, with a later time |
 * | `renewSession` | records the keys that the relay gives now |
 * | `deleteAccount` | `NO_IDENTITY` is answered as done |
 */
const descriptions: Descriptions = {
  restore: { takes: Nothing, answers: v.nullable(Account) },
  connect: { takes: Nothing, answers: Done },
  disconnect: { takes: Nothing, answers: Done },
  lock: { takes: Nothing, answers: Done },
  setNickname: { takes: v.tuple([v.string()]), answers: Done },
  logOut: {
    takes: v.tuple([v.optional(v.object({ erase: v.exactOptional(v.boolean()) }), {})]),
    answers: Done,
    alreadyDone: ({ code }) => (code === 'NO_IDENTITY' ? { answer: undefined } : undefined),
  },
  logOutEverywhere: { takes: Nothing, answers: Done },
  deleteAccount: {
    takes: Nothing,
    answers: Done,
    alreadyDone: ({ code }) => (code === 'NO_IDENTITY' ? { answer: undefined } : undefined),
  },
  friends: { takes: Nothing, answers: Friends },
  syncFriends: { takes: Nothing, answers: Friends },
  requestFriend: {
    takes: Contact,
    answers: FriendshipStatus,
    alreadyDone: ({ refusal }) => (refusal === 'ALREADY_FRIENDS' ? { answer: 'accepted' } : undefined),
  },
  acceptFriend: { takes: FriendshipId, answers: Done },
  rejectFriend: { takes: FriendshipId, answers: Done },
  removeFriend: {
    takes: FriendshipId,
    answers: Done,
    alreadyDone: ({ refusal }) => (refusal === 'NOT_FOUND' ? { answer: undefined } : undefined),
  },
  block: { takes: Contact, answers: Done },
  unblock: { takes: Contact, answers: Done },
  listBlocks: { takes: Nothing, answers: friendEndpoints.listBlocks.reply },
  lookUpUser: { takes: Contact, answers: accountEndpoints.lookUpUser.reply },
  send: { takes: v.tuple([v.string(), Content, SendOptions]), answers: StoredMessage },
  countUnsent: { takes: Nothing, answers: v.number() },
  retract: { takes: ContactAndText, answers: StoredMessage },
  notifyTyping: { takes: Contact, answers: Done },
  markRead: { takes: Contact, answers: Done },
  messages: { takes: v.tuple([v.string(), v.optional(Range, {})]), answers: Messages },
  conversations: { takes: Nothing, answers: v.pipe(v.array(Conversation), v.readonly()) },
  conversation: { takes: Contact, answers: Conversation },
  securityCode: { takes: Contact, answers: SecurityCode },
  trustState: { takes: Contact, answers: TrustState },
  verifySecurityCode: { takes: ContactAndText, answers: v.boolean() },
  markVerified: { takes: Contact, answers: Done },
  resetTrust: { takes: Contact, answers: Done },
  renewSession: { takes: Contact, answers: Done },
}

/** A method of the client. */
export function clientMethod<N extends ClientMethodName>(
  name: N,
): TabMethod<SottoClient, Parameter[N], Answer[N]> {
  return tabMethod(name, descriptions[name], (client: Callable, ...args) => client[name](...args))
}

function isClientMethod(name: string): name is ClientMethodName {
  return Object.hasOwn(descriptions, name)
}

/** The names of all methods of the client that a tab can request. */
export const clientMethodNames: readonly ClientMethodName[] = Object.keys(descriptions).filter(isClientMethod)

/** `SottoClient.syncIdentity`, answering the identity without its phrase. A second time, it reads again. */
export const syncIdentity = tabMethod(
  'syncIdentity',
  { takes: Nothing, answers: PublicIdentity },
  async (client: SottoClient) => publicPart(await client.syncIdentity()),
)

/** The key and the token that `Media` needs. A second time, it reads again. */
export const mediaPass = tabMethod(
  'mediaPass',
  { takes: v.tuple([v.string(), v.optional(v.string())]), answers: MediaPass },
  (client: SottoClient, ...args) => mediaPassOf(client, ...args),
)

/**
 * A module's request to the relay. It changes nothing the second time, or is the same order again, with three
 * exceptions: making a channel, posting to one and ordering a seat. The relay cannot recognise a repetition
 * of these, so they are never made twice. If the tab that was asked is gone, they fail with
 * `OUTCOME_UNKNOWN`, and the application has to check whether they took effect. A tab that passes the client
 * to another one finishes them first.
 */
export const relayRequest = tabMethod(
  'request',
  {
    takes: v.tuple([RelayRequest]),
    answers: v.string(),
    mayRepeat: ({ notIdempotent }) => notIdempotent !== true,
  },
  (client: SottoClient, request) => moduleAccessOf(client).request(request),
)

/** The method of a name that another tab sent, if there is one. */
export function findMethod(name: string): AnyTabMethod<SottoClient> | undefined {
  if (isClientMethod(name)) return clientMethod(name)
  return [syncIdentity, mediaPass, relayRequest].find((method) => method.name === name)
}
