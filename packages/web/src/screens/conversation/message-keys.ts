// The keyboard in the list of messages: arrows go from one to the next, Home and End to the first and the
// last of the conversation, Enter opens the menu of a message. One message at a time is reached by Tab.
import type { StoredMessage } from '@sotto/client'
import type { RefObject, TargetedKeyboardEvent } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Place } from '../../parts/menu-place.ts'
import type { VirtualList } from '../../parts/placed-rows.ts'
import { keyOf } from './grouping.ts'
import type { MessagePages } from './message-pages.ts'

interface MessageKeysOptions {
  readonly list: readonly StoredMessage[]
  readonly virtual: VirtualList
  readonly scroller: RefObject<HTMLElement | null>
  readonly pages: MessagePages
  readonly onOpen: (message: StoredMessage, place: Place) => void
}

interface MessageKeys {
  /** Gives the focus to a message, as soon as it is drawn. */
  readonly focus: (index: number) => void
  /** Which of these messages can be reached by Tab: the one that was reached last, or else the last one. */
  readonly focusableAmong: (indexes: readonly number[]) => number | undefined
  readonly onKeyDown: (event: TargetedKeyboardEvent<HTMLElement>) => void
}

export function useMessageKeys({ list, virtual, scroller, pages, onOpen }: MessageKeysOptions): MessageKeys {
  const [reached, setReached] = useState<string>()
  const wanted = useRef<string>(undefined)
  const articleOf = (index: number): HTMLElement | null =>
    scroller.current?.querySelector<HTMLElement>(`[data-index="${index}"] article`) ?? null

  useLayoutEffect(() => {
    if (wanted.current === undefined) return
    const index = list.findIndex((message) => keyOf(message) === wanted.current)
    const article = articleOf(index)
    if (!article) return
    wanted.current = undefined
    article.focus({ preventScroll: true })
  })

  const focus = (index: number): void => {
    const message = list[index]
    if (!message) return
    wanted.current = keyOf(message)
    setReached(wanted.current)
  }
  const step = (index: number): void => {
    if (index < 0 || index >= list.length) return
    virtual.scrollToIndex(index, { align: 'auto' })
    focus(index)
  }
  const toEdge = (isEnd: boolean): void => {
    const isThere = isEnd ? !pages.hasLater.value : !pages.hasEarlier.value
    if (isThere) step(isEnd ? list.length - 1 : 0)
    else if (isEnd) pages.show('end')
    else pages.showBeginning()
  }

  const onKeyDown = (event: TargetedKeyboardEvent<HTMLElement>): void => {
    const { key, target } = event
    if (!(target instanceof HTMLElement) || event.ctrlKey || event.metaKey || event.altKey) return
    const index = Number(target.closest<HTMLElement>('[data-index]')?.dataset.index ?? -1)
    const message = list[index]
    if (!message) return
    if (key === 'ArrowUp' || key === 'ArrowDown') step(index + (key === 'ArrowUp' ? -1 : 1))
    else if (key === 'Home' || key === 'End') toEdge(key === 'End')
    else if (key === 'Enter' && target.matches('article')) onOpen(message, { element: target })
    else return
    event.preventDefault()
  }

  const focusableAmong = (indexes: readonly number[]): number | undefined =>
    indexes.find((index) => {
      const message = list[index]
      return message && keyOf(message) === reached
    }) ?? indexes.at(-1)

  return { focus, focusableAmong, onKeyDown }
}
