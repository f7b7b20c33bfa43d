// What the user has read of the open conversation: marks it as read, keeps the place of the unread line, and
// says what has come since.
import type { Conversation, StoredMessage } from '@sotto/client'
import { useEffect, useRef, useState } from 'preact/hooks'
import { notifyError } from '../../session/notices.ts'
import type { Session } from '../../session/session.ts'
import { texts } from '../../texts/texts.ts'
import { previewOf } from '../chats/preview.ts'

/** Messages that come within this time are announced together. */
const ANNOUNCED_AFTER_MS = 700

interface Reading {
  /** The message above which the unread line is. */
  readonly unreadSeq: number | undefined
  /** How many messages have come since the end was last in view. */
  readonly newCount: number
  /** What a screen reader says of the latest messages. */
  readonly announced: string
  readonly onEndSeen: (isEndSeen: boolean) => void
  /** The user has written: nothing is unread any more. */
  readonly forgetLine: () => void
}

export function useReading(
  { client, organizer }: Session,
  conversation: Conversation,
  name: string,
): Reading {
  const { conversationId, unread, firstUnreadSeq, markedUnread } = conversation
  const [unreadSeq, setUnreadSeq] = useState(firstUnreadSeq)
  const [newCount, setNewCount] = useState(0)
  const [announced, announce] = useState('')
  const [isVisible, setVisible] = useState(document.visibilityState === 'visible')
  const [isEndSeen, setEndSeen] = useState(false)
  const isEnd = useRef(false)

  useEffect(() => {
    const look = (): void => setVisible(document.visibilityState === 'visible')
    document.addEventListener('visibilitychange', look)
    return () => document.removeEventListener('visibilitychange', look)
  }, [])

  useEffect(() => {
    if (!isVisible || !isEndSeen) {
      if (firstUnreadSeq !== undefined) setUnreadSeq((line) => line ?? firstUnreadSeq)
    } else if (unread > 0) client.markRead(conversationId).catch(notifyError)
  }, [unread, firstUnreadSeq, isVisible, isEndSeen])

  useEffect(() => {
    if (markedUnread) organizer.set(conversationId, { markedUnread: undefined }).catch(notifyError)
  }, [])

  useEffect(() => {
    let recent: StoredMessage[] = []
    let timer: ReturnType<typeof setTimeout> | undefined
    const say = (): void => {
      const [first] = recent
      const t = texts.value
      if (first && recent.length === 1) announce(`${t.conversation.from(name)} ${previewOf(first, t.chats)}`)
      else announce(t.conversation.newMessages(recent.length))
      recent = []
    }
    const stop = client.on('message', (message) => {
      if (message.conversationId !== conversationId) return
      if (!isEnd.current) setNewCount((count) => count + 1)
      recent.push(message)
      clearTimeout(timer)
      timer = setTimeout(say, ANNOUNCED_AFTER_MS)
    })
    return () => {
      stop()
      clearTimeout(timer)
    }
  }, [name])

  return {
    unreadSeq,
    newCount,
    announced,
    onEndSeen: (isSeen) => {
      isEnd.current = isSeen
      setEndSeen(isSeen)
      if (isSeen) setNewCount(0)
    },
    forgetLine: () => setUnreadSeq(undefined),
  }
}
