// An open menu, at its button or where somebody pressed. Escape, Tab, and a tap elsewhere close it, and the
// focus goes back to where it was.
import { useLayoutEffect, useRef } from 'preact/hooks'
import { Icon, type IconName } from './icon.tsx'
import { type Place, placeMenu } from './menu-place.ts'
import './menu.css'

/** One action of a menu. */
export interface MenuItem {
  readonly label: string
  readonly icon: IconName
  readonly onClick: () => void
  readonly isDangerous?: boolean
}

/** Small choices side by side at the top of a menu, and one that leads to more of them. */
export interface MenuRow {
  readonly label: string
  readonly choices: readonly {
    readonly text: string
    /** Its name for screen readers. */
    readonly label: string
    readonly isChosen: boolean
    readonly onClick: () => void
  }[]
  readonly more: MenuItem
}

/** What a menu has in it. */
export interface MenuContent {
  readonly label: string
  readonly items: readonly (MenuItem | false | undefined)[]
}

interface OpenMenuProps extends MenuContent {
  readonly row?: MenuRow | undefined
  readonly place: Place
  readonly onClose: () => void
}

/** What closes things: Escape, and the back gesture of a phone. Only Chromium has it. */
type CloseWatcher = EventTarget & { destroy(): void }

declare global {
  interface Window {
    readonly CloseWatcher?: new () => CloseWatcher
  }
}

export function OpenMenu({ label, row, items, place, onClose }: OpenMenuProps) {
  const list = useRef<HTMLDivElement>(null)
  const close = useRef(() => {})
  useLayoutEffect(() => {
    const menu = list.current
    if (!menu) return
    const before = document.activeElement
    menu.showPopover()
    placeMenu(menu, place)
    // Who opens and chooses by Enter alone meets the first action, not a reaction.
    menu.querySelector<HTMLElement>('.menu-item')?.focus({ preventScroll: true })

    const giveFocusBack = (): void => {
      if (!menu.contains(document.activeElement)) return
      const isUsable = before instanceof HTMLElement && before.isConnected && before !== document.body
      const target = isUsable ? before : place.element
      target.focus({ preventScroll: true })
    }
    close.current = () => {
      giveFocusBack()
      menu.hidePopover()
      onClose()
    }
    // Not a popover of the kind `auto`: the browser would close it when the finger is lifted that opened it.
    const onPointerDown = ({ target }: Event): void => {
      if (!(target instanceof Node) || menu.contains(target)) return
      // A press of its button closes it, too.
      if (place.point || !place.element.contains(target)) close.current()
    }
    // The panes have their new sizes in the next frame.
    const onResize = (): void => void requestAnimationFrame(() => placeMenu(menu, place))
    const watcher = window.CloseWatcher && new window.CloseWatcher()
    watcher?.addEventListener('close', () => close.current())
    addEventListener('pointerdown', onPointerDown, { capture: true })
    addEventListener('resize', onResize)
    return () => {
      removeEventListener('pointerdown', onPointerDown, { capture: true })
      removeEventListener('resize', onResize)
      watcher?.destroy()
      giveFocusBack()
    }
  }, [])

  const onKeyDown = (event: KeyboardEvent): void => {
    const { key } = event
    const focused = document.activeElement instanceof HTMLElement ? document.activeElement : undefined
    const all = (kind: string): HTMLElement[] => [
      ...(list.current?.querySelectorAll<HTMLElement>(kind) ?? []),
    ]
    const choices = all('.menu-choice')
    const inRow = focused ? choices.indexOf(focused) : -1
    // Up and down, the row is one place.
    const buttons = [...choices.slice(Math.max(0, inRow), Math.max(0, inRow) + 1), ...all('.menu-item')]
    const at = focused ? buttons.indexOf(focused) : -1
    const isRtl = document.documentElement.dir === 'rtl'
    const step = key === (isRtl ? 'ArrowLeft' : 'ArrowRight') ? 1 : -1
    if (key === 'Tab') return close.current()
    if (key === 'Escape') close.current()
    else if (key === 'ArrowDown') buttons[(at + 1) % buttons.length]?.focus()
    else if (key === 'ArrowUp') buttons.at(at - 1)?.focus()
    else if (inRow >= 0 && (key === 'ArrowLeft' || key === 'ArrowRight'))
      choices.at((inRow + step) % choices.length)?.focus()
    else if (key === 'Home') buttons[0]?.focus()
    else if (key === 'End') buttons.at(-1)?.focus()
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  const choose = ({ onClick }: Pick<MenuItem, 'onClick'>): void => {
    close.current()
    onClick()
  }
  return (
    <div
      ref={list}
      class="menu"
      popover="manual"
      role="menu"
      aria-label={label}
      onKeyDown={onKeyDown}
      onFocusOut={({ relatedTarget }) => {
        if (relatedTarget instanceof Node && !list.current?.contains(relatedTarget)) onClose()
      }}
      onContextMenu={(event) => event.preventDefault()}
    >
      {row && (
        // biome-ignore lint/a11y/useSemanticElements: a menu has no fieldset in it.
        <div class="menu-row" role="group" aria-label={row.label}>
          {row.choices.map((choice) => (
            <button
              key={choice.text}
              type="button"
              role="menuitemradio"
              aria-checked={choice.isChosen}
              aria-label={choice.label}
              title={choice.label}
              tabIndex={-1}
              class="menu-choice"
              onClick={() => choose(choice)}
            >
              {choice.text}
            </button>
          ))}
          <button
            type="button"
            role="menuitem"
            aria-label={row.more.label}
            title={row.more.label}
            tabIndex={-1}
            class="menu-choice"
            onClick={() => choose(row.more)}
          >
            <Icon name={row.more.icon} />
          </button>
        </div>
      )}
      {items.map(
        (item) =>
          item && (
            <button
              key={item.label}
              type="button"
              role="menuitem"
              tabIndex={-1}
              class="menu-item"
              data-dangerous={item.isDangerous}
              onClick={() => choose(item)}
            >
              <Icon name={item.icon} />
              {item.label}
            </button>
          ),
      )}
    </div>
  )
}
