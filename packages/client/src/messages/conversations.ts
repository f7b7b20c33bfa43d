// Describes conversations for a list: the contact, the number of unread messages, the last message.
import type { Friends, Sessions } from '../contacts/contacts.ts'
import { trustStateOf } from '../contacts/contacts.ts'
import type {
  ClientStore,
  ConversationSettings,
  MessageRange,
  MessagesAround,
  StoredMessage,
} from '../stores/stores.ts'
import type { Outbox } from './outbox.ts'
import type { Receipts } from './receipts.ts'
import type { Settings } from './settings.ts'

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
}

interface Sources {
  readonly friends: Friends
  readonly sessions: Sessions
  readonly messages: {
    readonly outbox: Pick<Outbox, 'heldBy'>
    readonly receipts: Pick<Receipts, 'readSeq'>
    readonly settings: Pick<Settings, 'of'>
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
export async function describeConversation(
  store: ClientStore,
  { friends, sessions, messages }: Sources,
  contact: string,
): Promise<Conversation> {
  const session = sessions.get(contact)
  const { conversationId, theirAliasId } = session
  const later = await store.listMessages(conversationId, {
    afterSeq: messages.receipts.readSeq(conversationId),
  })
  const unread = later.filter((message) => !message.isMe && !message.retracted)
  const firstUnreadSeq = unread[0]?.seq
  const latest = await store.listMessages(conversationId, { limit: 1 })
  const friend = friends.list().find((profile) => profile.conversation_id === conversationId)
  const { status } = await trustStateOf(sessions, conversationId, store)
  const changedCode = sessions.changedCode(session)
  const heldBy = messages.outbox.heldBy(conversationId)
  return {
    ...messages.settings.of(conversationId),
    contactId: theirAliasId,
    nickname: friend?.nickname ?? theirAliasId,
    isFriend: friend?.status === 'accepted',
    isVerified: status === 'verified',
    unread: unread.length,
    lastMessage: latest.at(-1),
    ...(firstUnreadSeq && { firstUnreadSeq }),
    ...(heldBy && { heldBy }),
    ...(changedCode && { changedCode }),
  }
}

/** Every conversation. See `SottoClient.conversations`. */
export async function listConversations(
  store: ClientStore,
  sources: Sources,
): Promise<readonly Conversation[]> {
  const all = await Promise.all(
    sources.sessions.list().map((session) => describeConversation(store, sources, session.conversationId)),
  )
  return all.sort(
    (a, b) =>
      (a.pinned ?? Number.MAX_VALUE) - (b.pinned ?? Number.MAX_VALUE) ||
      (b.lastMessage?.time ?? 0) - (a.lastMessage?.time ?? 0),
  )
}
