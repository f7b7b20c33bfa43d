// A menu of actions at a button. The browser closes it by Escape or a tap elsewhere.
import type { ComponentChildren } from 'preact'
import { useId, useRef, useState } from 'preact/hooks'
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
  readonly children?: ComponentChildren
}

export function Menu({ label, items, icon = 'more' }: MenuProps) {
  const id = useId()
  const list = useRef<HTMLDivElement>(null)
  const [place, setPlace] = useState<{ x: number; y: number }>()
  // The browser has drawn the menu in its own place: it goes below the button, and stays within the page.
  const open = (button: Element | null): void => {
    const box = button?.getBoundingClientRect()
    if (!box) return
    const width = 240
    const height = items.filter(Boolean).length * 44 + 16
    setPlace({
      x: Math.max(8, Math.min(box.right - width, innerWidth - width - 8)),
      y: Math.max(8, Math.min(box.bottom + 4, innerHeight - height - 8)),
    })
  }
  const focusNext = (from: EventTarget | null, step: 1 | -1): void => {
    const buttons = [...(list.current?.querySelectorAll('button') ?? [])]
    const at = buttons.findIndex((button) => button.contains(from instanceof Node ? from : null))
    buttons.at((at + step + buttons.length) % buttons.length)?.focus()
  }
  return (
    <>
      <IconButton
        icon={icon}
        label={label}
        opens={id}
        onClick={({ currentTarget }) => open(currentTarget instanceof Element ? currentTarget : null)}
      />
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
    </>
  )
}
