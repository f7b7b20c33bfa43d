// Conversations as a list of them shows each: with whom, what is new, what was said last.
import type { Friends } from './friends.ts'
import type { Receipts } from './receipts.ts'
import type { Sessions } from './sessions.ts'
import type { StoredMessage } from './stores/records.ts'
import type { ClientStore } from './stores/store.ts'
import { trustStateOf } from './trust.ts'

/** A conversation as a list of conversations shows it. */
export interface Conversation {
  readonly conversationId: string
  /** The contact's alias. */
  readonly contactId: string
  /** What the relay says the contact calls itself; the alias where it says nothing any more. */
  readonly nickname: string
  /** Whether the two are friends at present. */
  readonly isFriend: boolean
  readonly isVerified: boolean
  readonly unread: number
  readonly lastMessage: StoredMessage | undefined
}

interface Sources {
  readonly friends: Friends
  readonly sessions: Sessions
  readonly receipts: Receipts
}

/** One conversation. @throws ClientError `UNKNOWN_CONTACT` */
export async function describeConversation(
  store: ClientStore,
  { friends, sessions, receipts }: Sources,
  contact: string,
): Promise<Conversation> {
  const { conversationId, theirAliasId } = sessions.get(contact)
  const unread = await store.listMessages(conversationId, { afterSeq: receipts.readSeq(conversationId) })
  const [lastMessage] = await store.listMessages(conversationId, { limit: 1 })
  const friend = friends.list().find((profile) => profile.conversation_id === conversationId)
  const { status } = await trustStateOf(sessions, conversationId, store)
  return {
    conversationId,
    contactId: theirAliasId,
    nickname: friend?.nickname ?? theirAliasId,
    isFriend: friend?.status === 'accepted',
    isVerified: status === 'verified',
    unread: unread.filter((message) => !message.isMe && !message.retracted).length,
    lastMessage,
  }
}
