// Draws only the visible part of a long list: TanStack's virtual-core, bound to Preact.
import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
  type VirtualizerOptions,
} from '@tanstack/virtual-core'
import { useLayoutEffect, useReducer, useState } from 'preact/hooks'

type Options = Omit<
  VirtualizerOptions<HTMLElement, HTMLElement>,
  'observeElementRect' | 'observeElementOffset' | 'scrollToFn'
>

/** A virtualizer of a list that scrolls by itself: draws the component again when another part is visible. */
export function useVirtualList(options: Options): Virtualizer<HTMLElement, HTMLElement> {
  const [, drawAgain] = useReducer((count: number) => count + 1, 0)
  const resolved: VirtualizerOptions<HTMLElement, HTMLElement> = {
    observeElementRect,
    observeElementOffset,
    scrollToFn: elementScroll,
    ...options,
    onChange: (virtualizer, isScrolling) => {
      drawAgain(undefined)
      options.onChange?.(virtualizer, isScrolling)
    },
  }
  const [virtualizer] = useState(() => new Virtualizer(resolved))
  virtualizer.setOptions(resolved)
  useLayoutEffect(() => virtualizer._didMount(), [virtualizer])
  useLayoutEffect(() => virtualizer._willUpdate())
  return virtualizer
}
