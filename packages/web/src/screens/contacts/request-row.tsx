// A friend request with what can be done about it.
import type { FriendProfile } from '@sotto/client'
import type { ComponentChildren } from 'preact'
import { Avatar } from '../../parts/avatar.tsx'
import { Row } from '../../parts/row.tsx'

interface RequestRowProps {
  readonly friend: FriendProfile
  readonly detail: string
  readonly buttons: ComponentChildren
}

export function RequestRow({ friend, detail, buttons }: RequestRowProps) {
  return (
    <div class="contacts-request">
      <Row
        lead={<Avatar name={friend.nickname} seed={friend.alias_id} />}
        title={<bdi>{friend.nickname}</bdi>}
        detail={
          <>
            <span class="code">{friend.alias_id}</span> · {detail}
          </>
        }
      />
      <div class="contacts-buttons">{buttons}</div>
    </div>
  )
}
