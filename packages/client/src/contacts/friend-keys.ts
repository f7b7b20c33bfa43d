// Reads keys from a friend list, decides which friends need a session, and compares keys with the recorded
// ones.
import type { ConversationId, FriendProfile } from '@sotto/protocol'
import type { SessionRecord } from '../stores/stores.ts'

/** The public keys that the relay now reports for an account, in Base64. */
export interface CurrentKeys {
  readonly x25519: string
  readonly ed25519: string
}

type AcceptedFriend = FriendProfile & { readonly conversation_id: ConversationId }

export function keysIn({
  x25519_public_key,
  ed25519_public_key,
}: Pick<FriendProfile, 'x25519_public_key' | 'ed25519_public_key'>): CurrentKeys {
  return { x25519: x25519_public_key, ed25519: ed25519_public_key }
}

/** The X25519 keys in a friend list. */
export function keysOf(friends: readonly FriendProfile[]): readonly string[] {
  return friends.map((friend) => friend.x25519_public_key)
}

/** Whether a session has to exist for this entry of the friend list. */
export function needsSession(friend: FriendProfile): friend is AcceptedFriend {
  return friend.status === 'accepted' && friend.conversation_id !== ''
}

/**
 * Identifies the session key derived for a friend. It includes the contact's public key: a relay may give one
 * conversation to two contacts, and then the session key of one must not be used with the security code of
 * the other.
 */
export function derivedKeyId(friend: FriendProfile): string {
  return `${friend.conversation_id} ${friend.x25519_public_key}`
}

/** Whether a session was made with these keys. */
export function hasKeys(session: SessionRecord, current: CurrentKeys): boolean {
  const signing = session.theirEd25519PublicKey
  return (
    session.theirEcdhPublicKey === current.x25519 && (signing === undefined || signing === current.ed25519)
  )
}
