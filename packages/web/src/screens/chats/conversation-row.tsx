// One conversation in the list: who, what was said last, what waits.
import type { Conversation } from '@sotto/client'
import { Avatar } from '../../parts/avatar.tsx'
import { Badge } from '../../parts/badge.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Row } from '../../parts/row.tsx'
import { StatusMark } from '../../parts/status-mark.tsx'
import { shortTime } from '../../texts/dates.ts'
import { texts } from '../../texts/texts.ts'
import { previewOf } from './preview.ts'

interface ConversationRowProps {
  readonly conversation: Conversation
  readonly href: string
  readonly isCurrent: boolean
  readonly isTyping: boolean
  readonly nowMs: number
}

export function ConversationRow({ conversation, href, isCurrent, isTyping, nowMs }: ConversationRowProps) {
  const {
    conversationId,
    nickname,
    name,
    lastMessage,
    unread,
    draft,
    isVerified,
    pinned,
    mutedUntil,
    markedUnread,
  } = conversation
  const t = texts.value
  const isMuted = (mutedUntil ?? 0) > nowMs
  return (
    <Row
      href={href}
      isCurrent={isCurrent}
      lead={<Avatar name={name ?? nickname} seed={conversationId} />}
      title={
        <span class="chats-name">
          <bdi>{name ?? nickname}</bdi>
          {conversation.changedCode !== undefined ? (
            <Icon name="warning" />
          ) : (
            isVerified && <Icon name="shield" />
          )}
        </span>
      }
      detail={
        isTyping ? (
          <span class="chats-typing">{t.chats.typing}</span>
        ) : draft !== undefined && draft !== '' ? (
          <>
            <span class="chats-draft">{t.chats.draft}</span> <bdi>{draft}</bdi>
          </>
        ) : (
          <bdi>{previewOf(lastMessage, t.chats)}</bdi>
        )
      }
      end={
        <span class="chats-end">
          {lastMessage && <time class="number">{shortTime(lastMessage.time, nowMs)}</time>}
          <span class="chats-marks">
            {isMuted && <Mark name="bellOff" label={t.chats.muted} />}
            {pinned !== undefined && <Mark name="pin" label={t.chats.pinned} />}
            {unread > 0 ? (
              <Badge count={unread} label={t.common.unread(unread)} isMuted={isMuted} />
            ) : markedUnread ? (
              <span class="chats-dot" data-muted={isMuted}>
                <span class="spoken">{t.chats.markedUnread}</span>
              </span>
            ) : (
              lastMessage?.isMe && !lastMessage.retracted && <StatusMark status={lastMessage.status} />
            )}
          </span>
        </span>
      }
    />
  )
}

function Mark({ name, label }: { readonly name: 'bellOff' | 'pin'; readonly label: string }) {
  return (
    <>
      <Icon name={name} />
      <span class="spoken">{label}</span>
    </>
  )
}
