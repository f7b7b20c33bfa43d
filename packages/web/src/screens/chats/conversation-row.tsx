// One conversation in the list: who, what was said last, what waits.
import type { CallRecord, Conversation } from '@sotto/client'
import { Avatar } from '../../parts/avatar.tsx'
import { Badge } from '../../parts/badge.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Row } from '../../parts/row.tsx'
import { StatusMark } from '../../parts/status-mark.tsx'
import { shortTime } from '../../texts/dates.ts'
import { texts } from '../../texts/texts.ts'
import { wordsOf } from './preview.ts'

export interface ConversationRowProps {
  readonly conversation: Conversation
  readonly href: string
  readonly isCurrent: boolean
  readonly isTyping: boolean
  /** The latest call of the contact that was missed, and not seen in the log. */
  readonly missedCall?: CallRecord | undefined
  readonly nowMs: number
}

export function ConversationRow(props: ConversationRowProps) {
  const { conversation, href, isCurrent, isTyping, missedCall, nowMs } = props
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
  const missedAt = missedCall?.startedAt ?? 0
  const isCallLatest = missedAt > (lastMessage?.time ?? 0)
  const latestAt = isCallLatest ? missedAt : lastMessage?.time
  const isMuted = (mutedUntil ?? 0) > nowMs
  const isDraft = !isTyping && draft !== undefined && draft !== ''
  const isMessage = !isTyping && !isDraft && !isCallLatest
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
      before={
        isDraft ? (
          <span class="chats-draft">{t.chats.draft}</span>
        ) : (
          isMessage && lastMessage?.isMe && t.chats.you
        )
      }
      detail={
        isTyping ? (
          <span class="chats-typing">{t.chats.typing}</span>
        ) : isDraft ? (
          <bdi>{draft}</bdi>
        ) : isCallLatest ? (
          <span class="chats-missed">
            <Icon name="callIn" /> {t.chats.missedCall}
          </span>
        ) : (
          <bdi>{lastMessage ? wordsOf(lastMessage, t.chats) : t.chats.nothing}</bdi>
        )
      }
      end={
        <span class="chats-end">
          {latestAt !== undefined && <time class="number">{shortTime(latestAt, nowMs)}</time>}
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
