// A button with a menu of actions. What an open menu does is loaded when the first one is opened.
import type { IconName } from './icon.tsx'
import { lazy } from './lazy.tsx'
import { MenuButton } from './menu-button.tsx'
import type { MenuContent } from './open-menu.tsx'

interface MenuProps extends MenuContent {
  readonly icon?: IconName
}

/** A button with its menu. */
export function Menu({ label, items, icon }: MenuProps) {
  return (
    <MenuButton label={label} {...(icon && { icon })}>
      {(place, onClose) => <OpenMenu label={label} items={items} place={place} onClose={onClose} />}
    </MenuButton>
  )
}

const OpenMenu = lazy(
  async () => (await import('./open-menu.tsx')).OpenMenu,
  () => null,
)
