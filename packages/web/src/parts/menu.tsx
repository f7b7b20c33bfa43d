// A menu of actions at a button. The browser closes it by Escape or a tap elsewhere.
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { IconButton } from './button.tsx'
import { Icon, type IconName } from './icon.tsx'
import './menu.css'

/** One action of a menu. */
export interface MenuItem {
  readonly label: string
  readonly icon: IconName
  readonly onClick: () => void
  readonly isDangerous?: boolean
}

interface MenuProps {
  readonly label: string
  readonly items: readonly (MenuItem | false | undefined)[]
  readonly icon?: IconName
}

const WIDTH = 240

interface Point {
  readonly x: number
  readonly y: number
}

/** Below a button, or above it where there is no room, and within its pane. */
function placeAt(button: Element, count: number): Point {
  const box = button.getBoundingClientRect()
  const height = count * 44 + 16
  const isRtl = document.documentElement.dir === 'rtl'
  const start = isRtl ? box.left : box.right - WIDTH
  const pane = (button.closest('section') ?? document.body).getBoundingClientRect()
  const isBelow = box.bottom + 4 + height <= innerHeight - 8
  return {
    x: Math.max(pane.left + 8, Math.min(start, pane.right - WIDTH - 8)),
    y: Math.max(8, isBelow ? box.bottom + 4 : box.top - height - 4),
  }
}

export function Menu({ label, items, icon = 'more' }: MenuProps) {
  const id = useId()
  const [place, setPlace] = useState<Point>()
  return (
    <>
      <IconButton
        icon={icon}
        label={label}
        opens={id}
        onClick={({ currentTarget }) => {
          if (currentTarget instanceof Element) setPlace(placeAt(currentTarget, items.filter(Boolean).length))
        }}
      />
      <MenuList id={id} label={label} items={items} place={place} />
    </>
  )
}

interface MenuAtProps extends Pick<MenuProps, 'label' | 'items'> {
  /** The menu is shown below it. */
  readonly element: Element
  readonly onClose: () => void
}

/** A menu that is open: for lists, whose rows share one. */
export function MenuAt({ label, items, element, onClose }: MenuAtProps) {
  const id = useId()
  return (
    <MenuList
      id={id}
      label={label}
      items={items}
      place={placeAt(element, items.filter(Boolean).length)}
      onClose={onClose}
    />
  )
}

interface MenuListProps extends Pick<MenuProps, 'label' | 'items'> {
  readonly id: string
  readonly place: Point | undefined
  /** It is open from the beginning. */
  readonly onClose?: () => void
}

function MenuList({ id, label, items, place, onClose }: MenuListProps) {
  const list = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    if (onClose && list.current?.matches(':popover-open') === false) list.current.showPopover()
  }, [])
  const focusNext = (from: EventTarget | null, step: 1 | -1): void => {
    const buttons = [...(list.current?.querySelectorAll('button') ?? [])]
    const at = buttons.findIndex((button) => button.contains(from instanceof Node ? from : null))
    buttons.at((at + step + buttons.length) % buttons.length)?.focus()
  }
  return (
    <div
      ref={list}
      id={id}
      class="menu"
      popover="auto"
      role="menu"
      aria-label={label}
      style={place && { left: `${place.x}px`, top: `${place.y}px` }}
      onToggle={({ newState }) => {
        if (newState === 'open') list.current?.querySelector('button')?.focus()
        else onClose?.()
      }}
      onKeyDown={(event) => {
        if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return
        event.preventDefault()
        focusNext(document.activeElement, event.key === 'ArrowDown' ? 1 : -1)
      }}
    >
      {items.map(
        (item) =>
          item && (
            <button
              key={item.label}
              type="button"
              role="menuitem"
              class="menu-item"
              data-dangerous={item.isDangerous}
              onClick={() => {
                list.current?.hidePopover()
                item.onClick()
              }}
            >
              <Icon name={item.icon} />
              {item.label}
            </button>
          ),
      )}
    </div>
  )
}
