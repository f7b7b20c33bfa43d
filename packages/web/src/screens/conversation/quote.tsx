// The message that another one replies to, in a few words. In a bubble it leads there.
import type { StoredMessage } from '@sotto/client'
import { useEffect, useState } from 'preact/hooks'
import { texts } from '../../texts/texts.ts'
import { wordsOf } from '../chats/preview.ts'
import type { BubbleActions } from './bubble-actions.ts'
import './quote.css'

interface QuoteProps {
  readonly message: StoredMessage
  readonly name: string
  readonly isFocusable: boolean
  readonly actions: Pick<BubbleActions, 'findOriginal' | 'onOriginal' | 'revision'>
}

export function Quote({ message, name, isFocusable, actions }: QuoteProps) {
  const revision = actions.revision.value
  const [found, setFound] = useState<{ readonly original: StoredMessage | undefined }>()
  useEffect(() => {
    let isCurrent = true
    void actions.findOriginal(message).then((original) => isCurrent && setFound({ original }))
    return () => {
      isCurrent = false
    }
  }, [message.id, revision])
  const original = found?.original
  return (
    <button
      type="button"
      class="quote"
      disabled={!original}
      tabIndex={isFocusable ? 0 : -1}
      onClick={() => original && actions.onOriginal(original)}
    >
      {original ? (
        <QuoteText original={original} name={name} />
      ) : (
        <span class="quote-text">{found ? texts.value.conversation.originalGone : '…'}</span>
      )}
    </button>
  )
}

/** Who wrote the original, and what. */
export function QuoteText({ original, name }: { readonly original: StoredMessage; readonly name: string }) {
  const t = texts.value
  return (
    <>
      <span class="quote-name">
        <bdi>{original.isMe ? t.conversation.you : name}</bdi>
      </span>
      <span class="quote-text one-line">
        <bdi>{wordsOf(original, t.chats)}</bdi>
      </span>
    </>
  )
}
