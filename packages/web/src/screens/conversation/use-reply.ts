// Which message is being answered. It is a part of the draft.
import { type Signal, useSignal } from '@preact/signals'
import { type Conversation, contentOf, type Replies, type StoredMessage } from '@sotto/client'
import { useEffect } from 'preact/hooks'
import { notifyError } from '../../session/notices.ts'
import { keyOf } from './grouping.ts'

interface Reply {
  readonly message: Signal<StoredMessage | undefined>
  /** Returns the id of the message that is being answered, and ends the answer. */
  readonly take: () => string | undefined
  /** Answers an earlier message than now (or the latest one), or a later one (or none). */
  readonly step: (to: 'earlier' | 'later') => void
}

/** @param list what is read of the conversation now */
export function useReply(
  { conversationId, draftReplyToId }: Conversation,
  replies: Replies,
  list: readonly StoredMessage[] | undefined,
): Reply {
  const message = useSignal<StoredMessage | undefined>(undefined)
  useEffect(() => {
    if (draftReplyToId === undefined) return
    replies.originalOf({ conversationId, isMe: true, replyToId: draftReplyToId }).then((original) => {
      message.value ??= original
    }, notifyError)
  }, [])
  return {
    message,
    take: () => {
      const id = message.value?.id
      message.value = undefined
      return id
    },
    step: (to) => {
      const answerable =
        list?.filter((each) => contentOf(each) !== undefined && each.status !== 'failed') ?? []
      const now = answerable.findIndex((each) => message.value && keyOf(each) === keyOf(message.value))
      const from = now < 0 ? answerable.length : now
      message.value = answerable[to === 'earlier' ? Math.max(0, from - 1) : from + 1]
    },
  }
}
