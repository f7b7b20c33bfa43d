// What one tab can ask another to do: each method's parameters and answer, and why doing it twice is doing it once.
import { accountEndpoints, FriendProfile, FriendshipStatus, friendEndpoints } from '@sotto/protocol'
import * as v from 'valibot'
import type { SottoClient } from '../client.ts'
import { asClientError, ClientError } from '../client-error.ts'
import { doorOf } from '../door.ts'
import { RelayRequest } from '../relay-request.ts'
import { publicPart, StoredMessage, TrustState } from '../stores/records.ts'
import { PublicIdentity } from './events.ts'

/** A method that one tab can ask another to run. */
export interface TabMethod<A extends readonly unknown[], R> {
  /** Runs it on the client. `again` is true where it may have run before: what shows that it has is no refusal. */
  run(client: SottoClient, args: A, again: boolean): Promise<R>
  /** Runs it with parameters as another tab sent them. @throws ClientError `INVALID_ARGUMENT`, and what it throws itself. */
  runCarried(client: SottoClient, args: readonly unknown[], again: boolean): Promise<unknown>
  /** Whether it may be asked for again where it may have been done already. */
  mayRepeat(args: readonly unknown[]): boolean
  /** Reads an answer as another tab sent it; throws for what is none. */
  readAnswer(answer: unknown): R
}

interface Definition<A extends readonly unknown[], R> {
  readonly takes: v.GenericSchema<unknown, A>
  readonly answers: v.GenericSchema<unknown, R>
  readonly run: (client: SottoClient, ...args: A) => R | Promise<R>
  /** Which calls may be made twice; all of them unless told. */
  readonly mayRepeat?: (...args: A) => boolean
  /** The answer where this refusal of a repeated call shows that it was done the first time. */
  readonly alreadyDone?: (refusal: ClientError) => { readonly answer: NoInfer<R> } | undefined
}

function method<A extends readonly unknown[], R>(definition: Definition<A, R>): TabMethod<A, R> {
  const { takes, answers, alreadyDone } = definition
  const run = async (client: SottoClient, args: A, again: boolean): Promise<R> => {
    try {
      return await definition.run(client, ...args)
    } catch (thrown) {
      const error = asClientError(thrown, 'STORE_FAILED')
      const done = again ? alreadyDone?.(error) : undefined
      if (done) return done.answer
      throw error
    }
  }
  return {
    run,
    runCarried: async (client, carried, again) => {
      const args = v.safeParse(takes, carried)
      if (args.success) return run(client, args.output, again)
      throw new ClientError(
        'INVALID_ARGUMENT',
        `a parameter cannot be what it is: ${v.summarize(args.issues)}`,
      )
    },
    mayRepeat: (carried) => {
      const args = v.safeParse(takes, carried)
      return !args.success || (definition.mayRepeat?.(...args.output) ?? true)
    },
    readAnswer: (answer) => v.parse(answers, answer),
  }
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
  conversationId: v.string(),
  contactId: v.string(),
  nickname: v.string(),
  isFriend: v.boolean(),
  isVerified: v.boolean(),
  unread: v.number(),
  lastMessage: v.union([StoredMessage, v.undefined()]),
})
const Range = v.object({
  afterSeq: v.exactOptional(v.number()),
  beforeSeq: v.exactOptional(v.number()),
  limit: v.exactOptional(v.number()),
})
const Reply = { replyToId: v.optional(v.string()) }
const Content = v.union([
  v.string(),
  v.object({ kind: v.exactOptional(v.literal('text')), text: v.string(), ...Reply }),
  v.object({ kind: v.literal('image'), mediaKey: v.string(), ...Reply }),
  v.object({
    kind: v.literal('file'),
    mediaKey: v.string(),
    name: v.string(),
    sizeBytes: v.number(),
    ...Reply,
  }),
  v.object({ kind: v.literal('voice'), mediaKey: v.string(), durationMs: v.number(), ...Reply }),
])
const SendOptions = v.object({ replyToId: v.exactOptional(v.string()), id: v.string() })

/**
 * Every method a tab may ask for. A tab that runs the client may go in the middle of one; whoever asked then asks the next,
 * which does not know how far the first had come. So each of them but one may be done twice:
 *
 * | Method | Done a second time |
 * |---|---|
 * | `send` | answers the stored message: the tab that asks chooses its id |
 * | `retract` | answers the message as retracted |
 * | `markRead` | marks what has come since the first time, too |
 * | `notifyTyping` | sends a second notice; notices mean nothing after a moment |
 * | `connect`, `disconnect`, `lock` | is so already |
 * | `restore`, `syncIdentity`, `syncFriends`, `lookUpUser` and all that only read | reads again |
 * | `setNickname` | sets the same |
 * | `requestFriend` | the relay answers the request that is there; `ALREADY_FRIENDS` is answered as `accepted` |
 * | `acceptFriend`, `rejectFriend`, `block`, `unblock` | is so already, says the relay |
 * | `removeFriend` | the relay's `NOT_FOUND` is answered as done |
 * | `markVerified`, `verifySecurityCode`, `resetTrust` | sets the same, with a later time |
 * | `renewSession` | records once more what the relay gives now |
 * | `deleteAccount` | `NO_IDENTITY` is answered as done |
 * | `request`, by which `Channels` and `VanityShop` ask the relay | is so already, or is the same order again; see below |
 *
 * Requests to make a channel, to post to one and to order a seat are done twice when made twice: the relay has nothing to
 * know the second by. Those are never made again. Where the tab that was asked is gone, `OUTCOME_UNKNOWN` says what is
 * true, that it may have been done or not, and the application looks; where it only hands the client over, it does not
 * before they are answered.
 *
 * `create`, `recover`, `unlock`, `setPassphrase` and the phrase are not here: they carry or answer a secret, so the tab
 * that asks takes the client over and runs them itself. `on`, `events` and `close` are each tab's own.
 */
export const methods = {
  restore: method({ takes: Nothing, answers: v.nullable(Account), run: (client) => client.restore() }),
  connect: method({ takes: Nothing, answers: Done, run: (client) => client.connect() }),
  disconnect: method({ takes: Nothing, answers: Done, run: (client) => client.disconnect() }),
  lock: method({ takes: Nothing, answers: Done, run: (client) => client.lock() }),
  setNickname: method({
    takes: v.tuple([v.string()]),
    answers: Done,
    run: (client, nickname) => client.setNickname(nickname),
  }),
  deleteAccount: method({
    takes: Nothing,
    answers: Done,
    run: (client) => client.deleteAccount(),
    alreadyDone: ({ code }) => (code === 'NO_IDENTITY' ? { answer: undefined } : undefined),
  }),
  syncIdentity: method({
    takes: Nothing,
    answers: PublicIdentity,
    run: async (client) => publicPart(await client.syncIdentity()),
  }),
  request: method({
    takes: v.tuple([RelayRequest]),
    answers: v.string(),
    run: (client, request) => doorOf(client).request(request),
    mayRepeat: ({ notIdempotent }) => notIdempotent !== true,
  }),
  friends: method({ takes: Nothing, answers: Friends, run: (client) => client.friends() }),
  syncFriends: method({ takes: Nothing, answers: Friends, run: (client) => client.syncFriends() }),
  requestFriend: method({
    takes: Contact,
    answers: FriendshipStatus,
    run: (client, aliasId) => client.requestFriend(aliasId),
    alreadyDone: ({ refusal }) =>
      refusal === 'ALREADY_FRIENDS' ? { answer: 'accepted' as const } : undefined,
  }),
  acceptFriend: method({
    takes: FriendshipId,
    answers: Done,
    run: (client, friendshipId) => client.acceptFriend(friendshipId),
  }),
  rejectFriend: method({
    takes: FriendshipId,
    answers: Done,
    run: (client, friendshipId) => client.rejectFriend(friendshipId),
  }),
  removeFriend: method({
    takes: FriendshipId,
    answers: Done,
    run: (client, friendshipId) => client.removeFriend(friendshipId),
    alreadyDone: ({ refusal }) => (refusal === 'NOT_FOUND' ? { answer: undefined } : undefined),
  }),
  block: method({ takes: Contact, answers: Done, run: (client, aliasId) => client.block(aliasId) }),
  unblock: method({ takes: Contact, answers: Done, run: (client, aliasId) => client.unblock(aliasId) }),
  listBlocks: method({
    takes: Nothing,
    answers: friendEndpoints.listBlocks.reply,
    run: (client) => client.listBlocks(),
  }),
  lookUpUser: method({
    takes: Contact,
    answers: accountEndpoints.lookUpUser.reply,
    run: (client, aliasId) => client.lookUpUser(aliasId),
  }),
  send: method({
    takes: v.tuple([v.string(), Content, SendOptions]),
    answers: StoredMessage,
    run: (client, contact, content, options) => client.send(contact, content, options),
  }),
  countUnsent: method({ takes: Nothing, answers: v.number(), run: (client) => client.countUnsent() }),
  retract: method({
    takes: ContactAndText,
    answers: StoredMessage,
    run: (client, contact, messageId) => client.retract(contact, messageId),
  }),
  notifyTyping: method({
    takes: Contact,
    answers: Done,
    run: (client, contact) => client.notifyTyping(contact),
  }),
  markRead: method({ takes: Contact, answers: Done, run: (client, contact) => client.markRead(contact) }),
  messages: method({
    takes: v.tuple([v.string(), Range]),
    answers: Messages,
    run: (client, contact, range) => client.messages(contact, range),
  }),
  conversations: method({
    takes: Nothing,
    answers: v.pipe(v.array(Conversation), v.readonly()),
    run: (client) => client.conversations(),
  }),
  conversation: method({
    takes: Contact,
    answers: Conversation,
    run: (client, contact) => client.conversation(contact),
  }),
  securityCode: method({
    takes: Contact,
    answers: SecurityCode,
    run: (client, contact) => client.securityCode(contact),
  }),
  trustState: method({
    takes: Contact,
    answers: TrustState,
    run: (client, contact) => client.trustState(contact),
  }),
  verifySecurityCode: method({
    takes: ContactAndText,
    answers: v.boolean(),
    run: (client, contact, code) => client.verifySecurityCode(contact, code),
  }),
  markVerified: method({
    takes: Contact,
    answers: Done,
    run: (client, contact) => client.markVerified(contact),
  }),
  resetTrust: method({ takes: Contact, answers: Done, run: (client, contact) => client.resetTrust(contact) }),
  renewSession: method({
    takes: Contact,
    answers: Done,
    run: (client, contact) => client.renewSession(contact),
  }),
}

const byName = new Map<string, TabMethod<never, unknown>>(Object.entries(methods))
const names = new Map<unknown, string>(Object.entries(methods).map(([name, found]) => [found, name]))

/** The method of a name another tab sent, or undefined where there is none. */
export function findMethod(
  name: string,
): Pick<TabMethod<never, unknown>, 'runCarried' | 'mayRepeat'> | undefined {
  return byName.get(name)
}

/** The name of a method of the table. */
export function nameOf(found: Pick<TabMethod<never, unknown>, 'runCarried'>): string {
  const name = names.get(found)
  if (name === undefined) throw new TypeError('not a method of the table')
  return name
}
