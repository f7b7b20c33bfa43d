// Somebody who was found by alias: who it is, and what can be done.
import type { FriendProfile, UserLookup } from '@sotto/client'
import type { ComponentChildren } from 'preact'
import { Avatar } from '../../parts/avatar.tsx'
import { Button, ButtonLink } from '../../parts/button.tsx'
import { href } from '../../session/route.ts'
import { contactsTexts } from '../../texts/contacts.ts'

interface PersonCardProps {
  readonly user: UserLookup
  /** The entry of the friend list, if there is one. */
  readonly friend: FriendProfile | undefined
  readonly isBusy: boolean
  readonly onRequest: () => void
  readonly onAccept: (friend: FriendProfile) => void
  /** Another way out, beside what can be done. */
  readonly children?: ComponentChildren
}

export function PersonCard({ user, friend, isBusy, onRequest, onAccept, children }: PersonCardProps) {
  const t = contactsTexts.value
  return (
    <div class="card contacts-person">
      <Avatar name={user.nickname} seed={user.alias_id} size="large" />
      <h2>
        <bdi>{user.nickname}</bdi>
      </h2>
      <span class="code soft">{user.alias_id}</span>
      {friend?.status === 'accepted' ? (
        <>
          <p>{t.already}</p>
          <ButtonLink kind="primary" href={href('chats', friend.conversation_id)}>
            {t.open}
          </ButtonLink>
        </>
      ) : friend?.status === 'pending' && friend.direction === 'sent' ? (
        <p>{t.pending}</p>
      ) : friend?.status === 'pending' ? (
        <>
          <p>{t.wantsToTalk}</p>
          <Button kind="primary" isBusy={isBusy} onClick={() => onAccept(friend)}>
            {t.accept}
          </Button>
        </>
      ) : (
        <Button kind="primary" isBusy={isBusy} onClick={onRequest}>
          {t.request}
        </Button>
      )}
      {children}
    </div>
  )
}
