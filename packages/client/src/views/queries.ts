// What a view can follow: how it is read from a client, and which changes make it other than it was.
import type { FriendProfile } from '@sotto/protocol'
import type { Change } from '../events/events.ts'
import type { Conversation } from '../messages/messages.ts'
import type { MessageRange, MessagesAround, StoredMessage } from '../stores/stores.ts'

/** The part of a client that views use: a `SottoClient` or, in browsers, a `SharedClient`. */
export interface FollowedClient {
  on(name: 'changes', handler: (changes: readonly Change[]) => void): () => void
  conversations(): Promise<readonly Conversation[]>
  conversation(contact: string): Promise<Conversation>
  messages(contact: string, range?: MessageRange | MessagesAround): Promise<readonly StoredMessage[]>
  friends(): readonly FriendProfile[] | Promise<readonly FriendProfile[]>
}

/** Something that a view shows. An application can write its own. */
export interface Query<T> {
  /** Names what is read. Two queries with the same key read the same. */
  readonly key: string
  read(client: FollowedClient): T | Promise<T>
  /** Whether it has to be read again after a change. It is always read again after `everything`. */
  concerns(change: Change): boolean
}

/** The list of conversations, as `conversations` answers it. */
export function conversations(): Query<readonly Conversation[]> {
  return {
    key: 'conversations',
    read: (client) => client.conversations(),
    concerns: ({ kind }) => kind !== 'calls',
  }
}

/** One conversation. Name the contact by the conversation's id: changes of others are then not read. */
export function conversation(contact: string): Query<Conversation> {
  return {
    key: `conversation ${contact}`,
    read: (client) => client.conversation(contact),
    concerns: (change) => change.kind === 'friends' || (change.kind !== 'calls' && isOf(change, contact)),
  }
}

/** The messages of a conversation. Name the contact by the conversation's id, as for `conversation`. */
export function messages(
  contact: string,
  range: MessageRange | MessagesAround = {},
): Query<readonly StoredMessage[]> {
  return {
    key: `messages ${contact} ${JSON.stringify(range)}`,
    read: (client) => client.messages(contact, range),
    concerns: (change) => change.kind === 'messages' && isOf(change, contact),
  }
}

/** The friend list as of the last synchronisation. */
export function friends(): Query<readonly FriendProfile[]> {
  return {
    key: 'friends',
    read: (client) => client.friends(),
    concerns: ({ kind }) => kind === 'friends',
  }
}

/** Whether a change may be one of this contact's conversation. Only an id, with its hyphens, excludes it. */
function isOf({ conversationId }: Change, contact: string): boolean {
  return conversationId === undefined || conversationId === contact || !contact.includes('-')
}
