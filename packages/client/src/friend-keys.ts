// What a friend list says of keys: whose they are, which sessions it asks for, and whether they are those recorded.
import type { ConversationId, FriendProfile } from '@sotto/protocol'
import type { SessionRecord } from './stores/records.ts'

/** The keys the relay gives for somebody, in Base64. */
export interface CurrentKeys {
  readonly x25519: string
  readonly ed25519: string
}

type AcceptedFriend = FriendProfile & { readonly conversation_id: ConversationId }

/** The keys the relay gives for somebody. */
export function keysIn({
  x25519_public_key,
  ed25519_public_key,
}: Pick<FriendProfile, 'x25519_public_key' | 'ed25519_public_key'>): CurrentKeys {
  return { x25519: x25519_public_key, ed25519: ed25519_public_key }
}

/** The X25519 keys of all who are friends. */
export function keysOf(friends: readonly FriendProfile[]): readonly string[] {
  return friends.flatMap((friend) => (friend.status === 'accepted' ? [friend.x25519_public_key] : []))
}

/** Whether there is to be a session with somebody. */
export function asksForSession(friend: FriendProfile): friend is AcceptedFriend {
  return friend.status === 'accepted' && friend.conversation_id !== ''
}

/**
 * Where the session key derived for a friend is found. By the contact's key as well: a relay that gives one conversation
 * to two must not have the key made with one of them stand beside the security code of the other.
 */
export function placeOf(friend: FriendProfile): string {
  return `${friend.conversation_id} ${friend.x25519_public_key}`
}

/** Whether a session was made with these keys. */
export function hasKeys(session: SessionRecord, current: CurrentKeys): boolean {
  const signing = session.theirEd25519PublicKey
  return (
    session.theirEcdhPublicKey === current.x25519 && (signing === undefined || signing === current.ed25519)
  )
}
