// The people: friends, requests sent and received, and who is blocked.
import type { FriendProfile } from '@sotto/client'
import { useEffect, useMemo } from 'preact/hooks'
import { Avatar } from '../../parts/avatar.tsx'
import { Button, ButtonLink, IconLink } from '../../parts/button.tsx'
import { Icon } from '../../parts/icon.tsx'
import { LongList } from '../../parts/long-list.tsx'
import { Row } from '../../parts/row.tsx'
import { Screen } from '../../parts/screen.tsx'
import { Empty } from '../../parts/state.tsx'
import { attempt, notify, notifyError } from '../../session/notices.ts'
import { reporting } from '../../session/reporting.ts'
import { href, route } from '../../session/route.ts'
import { useSession } from '../../session/use-session.ts'
import { contactsTexts } from '../../texts/contacts.ts'
import { texts } from '../../texts/texts.ts'
import { RequestRow } from './request-row.tsx'
import './contacts.css'

const inOrder = new Intl.Collator()

/** A request has its buttons below it. */
const REQUEST_HEIGHT = 124

export function Contacts() {
  const { client, friends, identity, conversations, network } = useSession()
  const t = contactsTexts.value
  const received = friends.value.filter(isPending('received'))
  const sent = friends.value.filter(isPending('sent'))
  const accepted = friends.value.filter(({ status }) => status === 'accepted')
  const names = new Map(
    conversations.value?.map(({ conversationId, name, nickname }) => [conversationId, name ?? nickname]),
  )
  const nameOf = (friend: FriendProfile): string => names.get(friend.conversation_id) ?? friend.nickname
  const sorted = useMemo(
    () => accepted.toSorted((a, b) => inOrder.compare(nameOf(a), nameOf(b))),
    [friends.value, conversations.value],
  )
  const [, current] = route.value.path
  // The relay does not report that the other side ended a friendship, so the list is fetched.
  useEffect(() => {
    if (network.value === 'connected') client.syncFriends().catch(notifyError)
  }, [])
  const me = identity.value

  const accept = async (friend: FriendProfile): Promise<void> => {
    if (await attempt(() => client.acceptFriend(friend.friendship_id))) notify(t.accepted(friend.nickname))
  }
  const report = ({ nickname, alias_id: aliasId }: FriendProfile): void => {
    const content = `${nickname} (${aliasId})`
    reporting.value = { kind: 'friendRequest', name: nickname, aliasId, content }
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
      <LongList items={received} keyOf={(friend) => String(friend.friendship_id)} rowHeight={REQUEST_HEIGHT}>
        {(friend) => (
          <RequestRow
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
                <Button kind="quiet" onClick={() => report(friend)}>
                  {texts.value.common.report}
                </Button>
              </>
            }
          />
        )}
      </LongList>
      {sent.length > 0 && <h2 class="contacts-heading">{t.sent}</h2>}
      <LongList items={sent} keyOf={(friend) => String(friend.friendship_id)} rowHeight={REQUEST_HEIGHT}>
        {(friend) => (
          <RequestRow
            friend={friend}
            detail={t.waiting}
            buttons={
              <Button onClick={() => attempt(() => client.removeFriend(friend.friendship_id))}>
                {t.withdraw}
              </Button>
            }
          />
        )}
      </LongList>
      {accepted.length > 0 && <h2 class="contacts-heading">{t.friends(accepted.length)}</h2>}
      <LongList items={sorted} keyOf={(friend) => friend.conversation_id}>
        {(friend) => (
          <Row
            lead={<Avatar name={nameOf(friend)} seed={friend.conversation_id} />}
            title={<bdi>{nameOf(friend)}</bdi>}
            detail={<span class="code">{friend.alias_id}</span>}
            href={href('contacts', friend.conversation_id)}
            isCurrent={current === friend.conversation_id}
          />
        )}
      </LongList>
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
