// What the user has read of the open conversation: marks it as read, keeps the place of the unread line, and
// counts what has come since.
import type { Conversation } from '@sotto/client'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { notifyError } from '../../session/notices.ts'
import type { Session } from '../../session/session.ts'

interface Reading {
  /** The message above which the unread line is. */
  readonly unreadSeq: number | undefined
  /** How many messages have come since the end was last in view. */
  readonly newCount: number
  readonly onEndSeen: (isEndSeen: boolean) => void
  /** The user has written: nothing is unread any more. */
  readonly forgetLine: () => void
}

export function useReading({ client, organizer }: Session, conversation: Conversation): Reading {
  const { conversationId, unread, firstUnreadSeq, markedUnread } = conversation
  const [unreadSeq, setUnreadSeq] = useState(firstUnreadSeq)
  const [newCount, setNewCount] = useState(0)
  const [isVisible, setVisible] = useState(document.visibilityState === 'visible')
  const [isEndSeen, setEndSeen] = useState(false)
  const isEnd = useRef(false)

  useLayoutEffect(() => {
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

  useLayoutEffect(
    () =>
      client.on('message', (message) => {
        if (message.conversationId === conversationId && !isEnd.current) setNewCount((count) => count + 1)
      }),
    [],
  )

  return {
    unreadSeq,
    newCount,
    onEndSeen: (isSeen) => {
      isEnd.current = isSeen
      setEndSeen(isSeen)
      if (isSeen) setNewCount(0)
    },
    forgetLine: () => setUnreadSeq(undefined),
  }
}
