// Opens the menu of an element without its button: by the right mouse button, its keys, or a long press.
import type {
  TargetedEvent,
  TargetedKeyboardEvent,
  TargetedMouseEvent,
  TargetedPointerEvent,
  TargetedTouchEvent,
} from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { Place, Point } from './menu-place.ts'

/** A touch of this length is a long press, in milliseconds, as on phones. */
export const LONG_PRESS_MS = 500
/** A finger that moves farther than this scrolls, in pixels. */
const MOVED_PX = 10

interface Press extends Point {
  /** The press belongs to the browser, which opens its own menu or selects text. */
  readonly isOfBrowser: boolean
  readonly isTouch: boolean
  timer?: ReturnType<typeof setTimeout>
  hasOpened: boolean
}

/** The handlers of an element that has a menu. */
interface ContextMenuHandlers {
  readonly onPointerDown: (event: TargetedPointerEvent<HTMLElement>) => void
  readonly onPointerMove: (event: TargetedPointerEvent<HTMLElement>) => void
  readonly onPointerUp: () => void
  readonly onPointerCancel: () => void
  readonly onKeyDown: (event: TargetedKeyboardEvent<HTMLElement>) => void
  readonly onContextMenu: (event: TargetedMouseEvent<HTMLElement>) => void
  readonly onTouchEnd: (event: TargetedTouchEvent<HTMLElement>) => void
}

/**
 * The handlers of an element that has a menu. Selected text, fields, and links that lead out of the app keep
 * the menu of the browser.
 */
export function useContextMenu(onOpen: (place: Required<Place>) => void): ContextMenuHandlers {
  const press = useRef<Press>(undefined)
  const end = (): void => clearTimeout(press.current?.timer)
  useEffect(() => end, [])
  return {
    onPointerDown(event) {
      end()
      const { currentTarget: element, clientX: x, clientY: y, pointerType } = event
      const isTouch = pointerType === 'touch'
      const started: Press = { x, y, isTouch, isOfBrowser: isOfBrowser(event), hasOpened: false }
      press.current = started
      if (!isTouch || started.isOfBrowser || !event.isPrimary) return
      started.timer = setTimeout(() => {
        started.hasOpened = true
        onOpen({ element, point: { x, y } })
      }, LONG_PRESS_MS)
    },
    onPointerMove({ clientX, clientY }) {
      const { x, y } = press.current ?? { x: clientX, y: clientY }
      if (Math.hypot(clientX - x, clientY - y) > MOVED_PX) end()
    },
    onPointerUp: end,
    onPointerCancel: end,
    onKeyDown() {
      // A menu that opens now was opened by a key.
      press.current = undefined
    },
    onContextMenu(event) {
      const pressed = press.current
      end()
      // Some systems select the word below the pointer first. Only an earlier selection counts.
      if (pressed ? pressed.isOfBrowser : isOfBrowser(event)) return
      event.preventDefault()
      if (pressed?.hasOpened) return
      if (pressed) pressed.hasOpened = pressed.isTouch
      const { currentTarget: element, clientX: x, clientY: y } = event
      onOpen({ element, point: { x, y } })
    },
    onTouchEnd(event) {
      // A long press must not click: that would follow a link, or take the focus from the menu.
      if (press.current?.hasOpened && event.cancelable) event.preventDefault()
    },
  }
}

/** Whether the browser's own menu has more to offer here. */
function isOfBrowser({ target }: TargetedEvent<HTMLElement>): boolean {
  if (!(target instanceof Element)) return true
  if (target.closest('a[target="_blank"], input, textarea, dialog')) return true
  const selection = getSelection()
  return selection !== null && !selection.isCollapsed && selection.containsNode(target, true)
}
