// The people: friends, requests sent and received, and who is blocked.
import type { FriendProfile } from '@sotto/client'
import { useEffect } from 'preact/hooks'
import { Avatar } from '../../parts/avatar.tsx'
import { Button, ButtonLink, IconLink } from '../../parts/button.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Row } from '../../parts/row.tsx'
import { Screen } from '../../parts/screen.tsx'
import { Empty } from '../../parts/state.tsx'
import { attempt, notify, notifyError } from '../../session/notices.ts'
import { href, route } from '../../session/route.ts'
import { useSession } from '../../session/use-session.ts'
import { texts } from '../../texts/texts.ts'
import { RequestRow } from './request-row.tsx'
import './contacts.css'

export function Contacts() {
  const { client, friends, identity, conversations, network } = useSession()
  const t = texts.value.contacts
  const received = friends.value.filter(isPending('received'))
  const sent = friends.value.filter(isPending('sent'))
  const accepted = friends.value.filter(({ status }) => status === 'accepted')
  const names = new Map(conversations.value?.map(({ conversationId, name }) => [conversationId, name]))
  const nameOf = (friend: FriendProfile): string => names.get(friend.conversation_id) ?? friend.nickname
  const [, current] = route.value.path
  // Nobody is told that a friendship was ended by the other one: who looks at the list shall see it.
  useEffect(() => {
    if (network.value === 'connected') client.syncFriends().catch(notifyError)
  }, [])
  const me = identity.value

  const accept = async (friend: FriendProfile): Promise<void> => {
    if (await attempt(() => client.acceptFriend(friend.friendship_id))) notify(t.accepted(friend.nickname))
  }
  return (
    <Screen title={t.title} actions={<IconLink icon="plus" label={t.add} href={href('contacts', 'add')} />}>
      {me && (
        <Row
          lead={<Avatar name={me.nickname} seed={me.uuid} />}
          title={<bdi>{me.nickname}</bdi>}
          detail={<span class="code">{me.aliasId}</span>}
          href={href('contacts', 'me')}
          isCurrent={current === 'me'}
          end={<span class="soft small">{t.myAlias}</span>}
        />
      )}
      {received.length > 0 && <h2 class="contacts-heading">{t.received}</h2>}
      {received.map((friend) => (
        <RequestRow
          key={friend.friendship_id}
          friend={friend}
          detail={t.wantsToTalk}
          buttons={
            <>
              <Button kind="primary" onClick={() => accept(friend)}>
                {t.accept}
              </Button>
              <Button onClick={() => attempt(() => client.rejectFriend(friend.friendship_id))}>
                {t.reject}
              </Button>
            </>
          }
        />
      ))}
      {sent.length > 0 && <h2 class="contacts-heading">{t.sent}</h2>}
      {sent.map((friend) => (
        <RequestRow
          key={friend.friendship_id}
          friend={friend}
          detail={t.waiting}
          buttons={
            <Button onClick={() => attempt(() => client.removeFriend(friend.friendship_id))}>
              {t.withdraw}
            </Button>
          }
        />
      ))}
      {accepted.length > 0 && <h2 class="contacts-heading">{t.friends(accepted.length)}</h2>}
      <ul>
        {accepted
          .toSorted((a, b) => nameOf(a).localeCompare(nameOf(b)))
          .map((friend) => (
            <li key={friend.conversation_id}>
              <Row
                lead={<Avatar name={nameOf(friend)} seed={friend.conversation_id} />}
                title={<bdi>{nameOf(friend)}</bdi>}
                detail={<span class="code">{friend.alias_id}</span>}
                href={href('contacts', friend.conversation_id)}
                isCurrent={current === friend.conversation_id}
              />
            </li>
          ))}
      </ul>
      {friends.value.length === 0 && (
        <Empty
          icon="contacts"
          title={t.empty}
          action={
            <ButtonLink kind="primary" icon="plus" href={href('contacts', 'add')}>
              {t.add}
            </ButtonLink>
          }
        >
          {t.emptyHint}
        </Empty>
      )}
      <Row
        lead={
          <span class="contacts-lead">
            <Icon name="block" />
          </span>
        }
        title={t.blocked}
        href={href('contacts', 'blocked')}
        isCurrent={current === 'blocked'}
      />
    </Screen>
  )
}

function isPending(direction: FriendProfile['direction']): (friend: FriendProfile) => boolean {
  return (friend) => friend.status === 'pending' && friend.direction === direction
}
