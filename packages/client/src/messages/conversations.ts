// Describes conversations for a list: the contact, the number of unread messages, the last message.
import { type Friends, type Sessions, trust } from '../contacts/contacts.ts'
import type {
  ClientStore,
  ConversationSettings,
  MessageRange,
  MessagesAround,
  StoredMessage,
} from '../stores/stores.ts'
import type { Outbox } from './outbox.ts'
import type { Settings } from './settings.ts'
import type { Summaries } from './summaries.ts'

/** What a list of conversations shows about one conversation, with what the user decided about it. */
export interface Conversation extends Omit<ConversationSettings, 'conversationId'> {
  readonly conversationId: string
  /** The contact's alias. */
  readonly contactId: string
  /** The contact's nickname, as the relay reports it; the alias if the contact has left the friend list. */
  readonly nickname: string
  /** Whether the contact is a friend now. */
  readonly isFriend: boolean
  readonly isVerified: boolean
  /**
   * Whether messages to this contact have forward secrecy: its client has announced it. Otherwise one key
   * opens all messages of the conversation.
   */
  readonly hasForwardSecrecy: boolean
  /** True while messages to a contact who had forward secrecy go without it: the user permitted that. */
  readonly isLowered?: true
  readonly unread: number
  /** The `seq` of the first unread message, for a line above it. */
  readonly firstUnreadSeq?: number
  readonly lastMessage: StoredMessage | undefined
  /**
   * While the relay refuses messages to this contact for now: its code, such as `RELAY_FULL`, `MAILBOX_FULL`
   * or `RATE_LIMITED`. They stay `sending`, and are sent once it accepts them.
   */
  readonly heldBy?: string
  /**
   * While the relay reports other keys for this contact than the recorded ones: the security code of those
   * keys, in groups of 4. Nothing is sent to this contact and nothing is read from it until the relay reports
   * the recorded keys again, or `renewSession` records the new ones.
   */
  readonly changedCode?: string
  /** When `renewSession` recorded new keys of this contact, if the user has not compared them since. */
  readonly renewedAt?: number
}

interface Sources {
  readonly friends: Friends
  readonly sessions: Sessions
  readonly messages: {
    readonly outbox: Pick<Outbox, 'heldBy'>
    readonly settings: Pick<Settings, 'of'>
    readonly summaries: Summaries
  }
}

/** Lists a part of a conversation, in order. */
export async function listMessages(
  store: Pick<ClientStore, 'listMessages'>,
  conversationId: string,
  part: MessageRange | MessagesAround = {},
): Promise<readonly StoredMessage[]> {
  if (!('aroundSeq' in part)) return store.listMessages(conversationId, part)
  const { aroundSeq, limit } = part
  // No write comes between two reads that begin together.
  const halves = await Promise.all([
    store.listMessages(conversationId, { beforeSeq: aroundSeq, limit }),
    store.listMessages(conversationId, { afterSeq: aroundSeq - 1, limit: limit + 1, take: 'earliest' }),
  ])
  return halves.flat()
}

/** One conversation. @throws ClientError `UNKNOWN_CONTACT` */
export async function describeConversation(sources: Sources, contact: string): Promise<Conversation> {
  const [described] = await describe(sources, [sources.sessions.get(contact).conversationId])
  // If the contact was forgotten meanwhile, it is unknown now, or has a new session.
  return described ?? describeConversation(sources, contact)
}

/** Every conversation. See `SottoClient.conversations`. */
export async function listConversations(sources: Sources): Promise<readonly Conversation[]> {
  const described = await describe(
    sources,
    sources.sessions.list().map(({ conversationId }) => conversationId),
  )
  // Two that are not pinned differ by no number, and their times decide.
  return described.sort(
    (a, b) =>
      (a.pinned ?? Number.POSITIVE_INFINITY) - (b.pinned ?? Number.POSITIVE_INFINITY) ||
      (b.lastMessage?.time ?? 0) - (a.lastMessage?.time ?? 0),
  )
}

/** Describes conversations, without those whose contact was forgotten meanwhile. */
async function describe(
  { friends, sessions, messages }: Sources,
  conversationIds: Parameters<Summaries['of']>[0],
): Promise<Conversation[]> {
  const summaries = await messages.summaries.of(conversationIds)
  const friendOf = new Map(friends.list().map((friend) => [friend.conversation_id, friend]))
  return summaries.flatMap((summary) => {
    const session = summary && sessions.find(summary.conversationId)
    if (!session) return []
    const { trust: stored, ...seen } = summary
    const { conversationId } = seen
    const { theirAliasId } = session
    // The keys may have changed since the summary was read.
    const held = trust.held(sessions, session, stored)
    const friend = friendOf.get(conversationId)
    const changedCode = sessions.changedCode(session)
    const heldBy = messages.outbox.heldBy(conversationId)
    return {
      ...messages.settings.of(conversationId),
      ...seen,
      contactId: theirAliasId,
      nickname: friend?.nickname ?? theirAliasId,
      isFriend: friend?.status === 'accepted',
      isVerified: held.status === 'verified',
      hasForwardSecrecy: session.speaks === 3,
      ...(session.lowered && { isLowered: true }),
      ...(heldBy && { heldBy }),
      ...(changedCode && { changedCode }),
      ...(held.status === 'unverified' && held.renewedAt && { renewedAt: held.renewedAt }),
    }
  })
}
